! SPDX-License-Identifier: BSD-3-Clause
!
! Messages and collectives as Fortran programs make them, by the bindings MPIF_H, MPI_MODULE or MPI_F08, with data in
! place by Fortran's own MPI_IN_PLACE. Rank 0 prints how many values arrived wrong on all ranks.
!
! To the next rank: 100 doubles by mpi_send, 300 integers by mpi_sendrecv, 3 of 50 integers by a persistent request.
! Of all: two allreduces of 1000 integers, a gather of 10, an allgather of 10 in place, an alltoall of 5, and the
! reduction of the result.
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
  type(MPI_Request) :: request, requests(2)
  type(MPI_Status) :: status
#else
  integer :: request, requests(2), status(MPI_STATUS_SIZE)
#endif
  integer :: rank, ranks, next, before, wrong, wrong_on_all, ierror, i, round
  double precision :: out(100), in(100)
  integer :: numbers(1000), sums(1000), sent(300), received(300)
  integer, allocatable :: all(:), more(:)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  wrong = 0

  out = rank
  call MPI_Irecv(in, 100, MPI_DOUBLE_PRECISION, before, 1, MPI_COMM_WORLD, request, ierror)
  call MPI_Send(out, 100, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, ierror)
  call MPI_Wait(request, status, ierror)
  if (any(in /= before)) wrong = wrong + 1

  sent = rank
  call MPI_Sendrecv(sent, 300, MPI_INTEGER, next, 2, received, 300, MPI_INTEGER, before, 2, MPI_COMM_WORLD, &
                    status, ierror)
  if (any(received /= before)) wrong = wrong + 1

  call MPI_Recv_init(received, 50, MPI_INTEGER, before, 3, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Send_init(sent, 50, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(2), ierror)
  do round = 1, 3
    sent(1:50) = rank + round
    call MPI_Startall(2, requests, ierror)
    call MPI_Wait(requests(1), status, ierror)
    call MPI_Wait(requests(2), status, ierror)
    if (any(received(1:50) /= before + round)) wrong = wrong + 1
  end do
  call MPI_Request_free(requests(1), ierror)
  call MPI_Request_free(requests(2), ierror)

  numbers = [(rank + i, i=1, 1000)]
  call MPI_Allreduce(numbers, sums, 1000, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call MPI_Allreduce(MPI_IN_PLACE, numbers, 1000, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (any(numbers /= sums)) wrong = wrong + 1
  if (sums(7) /= 7*ranks + ranks*(ranks - 1)/2) wrong = wrong + 1

  allocate (all(10*ranks), more(10*ranks))
  all = [(i, i=1, 10*ranks)]
  if (rank == 0) then
    all(11:) = 0
    call MPI_Gather(MPI_IN_PLACE, 10, MPI_INTEGER, all, 10, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    if (any(all /= [(i, i=1, 10*ranks)])) wrong = wrong + 1
  else
    call MPI_Gather(all(10*rank + 1), 10, MPI_INTEGER, more, 10, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  end if
  more = 0
  more(10*rank + 1:10*rank + 10) = all(10*rank + 1:10*rank + 10)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, more, 10, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  if (any(more /= [(i, i=1, 10*ranks)])) wrong = wrong + 1
  call MPI_Alltoall(all, 5, MPI_INTEGER, more, 5, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  if (any(more(1:5) /= [(5*rank + i, i=1, 5)])) wrong = wrong + 1

  call MPI_Reduce(wrong, wrong_on_all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(i0, a)', wrong_on_all, ' wrong values'
  call MPI_Finalize(ierror)
end program
