#pragma once
#include <cstddef>

/// Stands in for the header of CUDA's driver, in tests: ranges of addresses, and what tells devices apart
/// (tests/cuda_on_host/memory.cpp).

using CUdeviceptr = unsigned long long;
using CUmemGenericAllocationHandle = unsigned long long;
enum CUresult { CUDA_SUCCESS, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_NOT_SUPPORTED };
enum CUmemAllocationType { CU_MEM_ALLOCATION_TYPE_PINNED };
enum CUmemLocationType { CU_MEM_LOCATION_TYPE_DEVICE };
enum CUmemAccess_flags { CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
struct CUuuid {
  char bytes[16];
};
struct CUmemLocation {
  CUmemLocationType type;
  int id;
};
struct CUmemAllocationProp {
  CUmemAllocationType type;
  CUmemLocation location;
};
struct CUmemAccessDesc {
  CUmemLocation location;
  CUmemAccess_flags flags;
};

CUresult cuGetErrorString(CUresult status, const char** what);
CUresult cuDeviceGetUuid(CUuuid* id, int device);
CUresult cuMemAddressReserve(CUdeviceptr* base, size_t bytes, size_t alignment, CUdeviceptr wanted,
                             unsigned long long flags);
CUresult cuMemAddressFree(CUdeviceptr base, size_t bytes);
CUresult cuMemCreate(CUmemGenericAllocationHandle* memory, size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long flags);
CUresult cuMemRelease(CUmemGenericAllocationHandle memory);
CUresult cuMemMap(CUdeviceptr at, size_t bytes, size_t offset, CUmemGenericAllocationHandle memory,
                  unsigned long long flags);
CUresult cuMemUnmap(CUdeviceptr at, size_t bytes);
CUresult cuMemSetAccess(CUdeviceptr at, size_t bytes, const CUmemAccessDesc* access, size_t count);
