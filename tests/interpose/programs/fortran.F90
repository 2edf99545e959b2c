! SPDX-License-Identifier: BSD-3-Clause
!
! Broadcasts as Fortran programs make them, by the bindings MPIF_H, MPI_MODULE or MPI_F08. Rank 0 prints how
! many values arrived wrong on all ranks.
!
!   kinds      data of many kinds, between two ranks
!   rounds     what rounds.c does, so that some ranks may run this and some that
!   many N     a communicator is made and freed N times, with a broadcast each; also prints how much grew
program fortran
#if defined(MPI_F08)
  use mpi_f08
#elif defined(MPI_MODULE)
  use mpi
#endif
  implicit none
#if defined(MPIF_H)
  include 'mpif.h'
#endif
#if defined(MPI_F08)
  type(MPI_Comm) :: comm
#else
  integer :: comm
#endif
  character(len=16) :: what, text
  integer :: rank, ranks, wrong, wrong_on_all, ierror, times

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call get_command_argument(1, what)
  wrong = 0
  select case (what)
  case ('kinds')
    call kinds()
  case ('rounds')
    call rounds()
  case ('many')
    call get_command_argument(2, text)
    read (text, *) times
    call many(times)
  case default
    error stop 'what is to be done?'
  end select
  call MPI_Reduce(wrong, wrong_on_all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) then
    if (what == 'rounds') then
      print '(i0, a, i0, a)', 20, ' broadcasts, ', wrong_on_all, ' wrong values'
    else
      print '(i0, a)', wrong_on_all, ' wrong values'
    end if
  end if
  call MPI_Finalize(ierror)

contains

  subroutine kinds()
#if defined(MPI_F08)
    type(MPI_Datatype) :: row, both, basic(2)
#else
    integer :: row, both, basic(2)
#endif
    integer, volatile :: value
    double precision, volatile :: factor
    integer :: numbers(2000), matrix(10, 10), i
    real :: reals(501)
    logical :: flags(3)
    character(len=11) :: word
    integer(kind=MPI_ADDRESS_KIND) :: at(2)

    value = merge(7, 0, rank == 1)                                     ! 1: an integer
    call MPI_Bcast(value, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, ierror)
    call expect(value == 7)

    numbers = merge([(i, i=1, 2000)], 0, rank == 0)                    ! 2: an array of integers
    call MPI_Bcast(numbers, 2000, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    call expect(all(numbers == [(i, i=1, 2000)]))

    reals = merge([(0.5*i, i=1, 501)], 0.0, rank == 1)                 ! 3: an array of reals
    call MPI_Bcast(reals, 501, MPI_REAL, 1, MPI_COMM_WORLD, ierror)
    call expect(all(reals == [(0.5*i, i=1, 501)]))

    word = merge('isochronous', '-----------', rank == 0)              ! 4: characters
    call MPI_Bcast(word, 11, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierror)
    call expect(word == 'isochronous')

    flags = rank == 1                                                  ! 5: logicals
    call MPI_Bcast(flags, 3, MPI_LOGICAL, 1, MPI_COMM_WORLD, ierror)
    call expect(all(flags))

    matrix = merge(3, 0, rank == 0)                                    ! 6: a row, which has gaps
    call MPI_Type_vector(10, 1, 10, MPI_INTEGER, row, ierror)
    call MPI_Type_commit(row, ierror)
    call MPI_Bcast(matrix(4, 1), 1, row, 0, MPI_COMM_WORLD, ierror)
    call MPI_Type_free(row, ierror)
    call expect(all(matrix(4, :) == 3))
    call expect(sum(matrix) == merge(300, 30, rank == 0))

    value = merge(11, 0, rank == 1)                                    ! 7: addresses of their own
    factor = merge(2.5d0, 0.0d0, rank == 1)
    call MPI_Get_address(value, at(1), ierror)
    call MPI_Get_address(factor, at(2), ierror)
    basic(1) = MPI_INTEGER
    basic(2) = MPI_DOUBLE_PRECISION
    call MPI_Type_create_struct(2, [1, 1], at, basic, both, ierror)
    call MPI_Type_commit(both, ierror)
    call MPI_Bcast(MPI_BOTTOM, 1, both, 1, MPI_COMM_WORLD, ierror)
    call MPI_Type_free(both, ierror)
    call expect(value == 11)
    call expect(factor == 2.5d0)

    numbers(1:10) = merge([(i, i=1, 10)], 0, rank == 1)                ! 8: every other element
    call MPI_Bcast(numbers(1:10:2), 5, MPI_INTEGER, 1, MPI_COMM_WORLD, ierror)
    call expect(all(numbers(1:10:2) == [1, 3, 5, 7, 9]))
    call expect(all(numbers(2:10:2) == merge([2, 4, 6, 8, 10], 0, rank == 1)))

    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)                    ! 9: another communicator
    value = merge(13, 0, rank == 0)
    call MPI_Bcast(value, 1, MPI_INTEGER, 0, comm, ierror)
    call MPI_Comm_free(comm, ierror)
    call expect(value == 13)
    call expect(comm == MPI_COMM_NULL)

#if defined(MPI_F08)
    value = merge(17, 0, rank == 0)                                    ! 10: without ierror
    call MPI_Bcast(value, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call expect(value == 17)
#endif
#if defined(LARGE)
    numbers = merge([(3*i, i=1, 2000)], 0, rank == 1)                  ! 11: and 12: counts of another kind
    call MPI_Bcast(numbers, int(2000, MPI_COUNT_KIND), MPI_INTEGER, 1, MPI_COMM_WORLD, ierror)
    call expect(all(numbers == [(3*i, i=1, 2000)]))
    numbers = merge([(5*i, i=1, 2000)], 0, rank == 0)
    call MPI_Bcast(numbers(1:2000:4), int(500, MPI_COUNT_KIND), MPI_INTEGER, 0, MPI_COMM_WORLD)
    call expect(all(numbers(1:2000:4) == [(5*i, i=1, 2000, 4)]))
#endif
  end subroutine

  subroutine rounds()
    integer :: data(1000), round, root, i
    do round = 1, 20
      root = mod(round, ranks)
      data = -1
      if (rank == root) data = [(1000*round + i - 1, i=1, 1000)]
      call MPI_Bcast(data, 50*round, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
      wrong = wrong + count(data(:50*round) /= [(1000*round + i - 1, i=1, 50*round)])
    end do
  end subroutine

  subroutine many(times)
    integer, intent(in) :: times
    integer :: i, value, before
    before = 0
    do i = 1, times
      call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
      value = merge(i, 0, rank == mod(i, 2))
      call MPI_Bcast(value, 1, MPI_INTEGER, mod(i, 2), comm, ierror)
      call expect(value == i)
      call MPI_Comm_free(comm, ierror)
      if (i == times/10) before = resident_kib()
    end do
    if (rank == 0) print '(a, i0, a)', 'grew by ', resident_kib() - before, ' KiB'
  end subroutine

  subroutine expect(holds)
    logical, intent(in) :: holds
    if (.not. holds) wrong = wrong + 1
  end subroutine

  integer function resident_kib()
    character(len=80) :: line
    integer :: unit, state
    resident_kib = -1
    open (newunit=unit, file='/proc/self/status', action='read')
    do
      read (unit, '(a)', iostat=state) line
      if (state /= 0) exit
      if (line(:6) == 'VmRSS:') read (line(7:index(line, 'kB') - 1), *) resident_kib
    end do
    close (unit)
  end function
end program
