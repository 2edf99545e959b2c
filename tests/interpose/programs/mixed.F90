! SPDX-License-Identifier: BSD-3-Clause
!
! The Fortran side of mixed.c.
module mixed
  use, intrinsic :: iso_c_binding
#if defined(MPI_F08)
  use mpi_f08
#elif defined(MPI_MODULE)
  use mpi
#endif
  implicit none
#if defined(MPIF_H)
  include 'mpif.h'
#endif
contains
  subroutine fortran_start() bind(c)
    integer :: ierror
    call MPI_Init(ierror)
  end subroutine

  subroutine fortran_end() bind(c)
    integer :: ierror
    call MPI_Finalize(ierror)
  end subroutine

  integer(c_int) function fortran_broadcast(value, root) bind(c)
    integer(c_int), value :: value, root
    integer :: ierror, here
    here = value
    call MPI_Bcast(here, 1, MPI_INTEGER, int(root), MPI_COMM_WORLD, ierror)
    fortran_broadcast = here
  end function
end module
