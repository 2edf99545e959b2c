! SPDX-License-Identifier: BSD-3-Clause
!
! The world as Fortran programs use it, by the bindings MPIF_H, MPI_MODULE or MPI_F08. The first line says for each
! rank the one that the launcher has given it, the second how many values were wrong on all ranks.
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
  type(MPI_Comm) :: half, grid
  type(MPI_Status) :: status
#else
  integer :: half, grid, status(MPI_STATUS_SIZE)
#endif
  integer :: rank, ranks, here, next, before, in, wrong, wrong_on_all, launched, key, ierror, length
  integer :: dims(1), coordinates(1)
  integer, allocatable :: all(:)
  integer(kind=MPI_ADDRESS_KIND) :: value
  logical :: found, periods(1)
  character(len=32) :: word
  character(len=MPI_MAX_OBJECT_NAME) :: name

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  wrong = 0

  call get_environment_variable('OMPI_COMM_WORLD_RANK', word)
  if (word == '') call get_environment_variable('PMI_RANK', word)
  read (word, *) launched
  allocate (all(ranks))
  call MPI_Gather(launched, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(a, *(1x, i0))', 'launched as', all

  call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 2, in, 1, MPI_INTEGER, before, 2, MPI_COMM_WORLD, status, ierror)
  if (in /= before) wrong = wrong + 1
  call MPI_Allgather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  if (any(all /= [(in, in=0, ranks - 1)])) wrong = wrong + 1

  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierror)
  call MPI_Comm_rank(half, here, ierror)
  if (here /= (ranks + 1 - mod(rank, 2))/2 - 1 - rank/2) wrong = wrong + 1
  call MPI_Comm_free(half, ierror)

  call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, ierror)
  if (name(1:length) /= 'MPI_COMM_WORLD') wrong = wrong + 1

  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, found, ierror)
  if (.not. found) then
    wrong = wrong + 1
  else if (value < 32767) then
    wrong = wrong + 1
  end if
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 42_MPI_ADDRESS_KIND + rank, ierror)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, found, ierror)
  if (.not. found .or. value /= 42 + rank) wrong = wrong + 1
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierror)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, found, ierror)
  if (found) wrong = wrong + 1

  dims = ranks
  periods = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, .true., grid, ierror)
  call MPI_Comm_rank(grid, here, ierror)
  call MPI_Cart_coords(grid, here, 1, coordinates, ierror)
  if (coordinates(1) /= here) wrong = wrong + 1
  call MPI_Comm_free(grid, ierror)

  call MPI_Reduce(wrong, wrong_on_all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(i0, a)', wrong_on_all, ' wrong values'
  call MPI_Finalize(ierror)
end program
