import {setFlagsFromString} from 'node:v8'

/**
 * V8 lets a small heap grow up to fourfold before it collects: under a flood that is hundreds of megabytes of garbage. A
 * server collects more often instead, for a few percent of its processor time. The space for new objects stays as large as
 * loading the program has made it: buffers of requests are freed only when that space is collected.
 */
export function collectEarly(): void {
  setFlagsFromString('--heap-growing-percent=30')
  setFlagsFromString('--semi-space-growth-factor=1')
}

/**
 * glibc keeps freed memory, in an arena for each thread, and learns from one large body to keep more. With these settings large
 * blocks go back to the system as soon as they are free. It reads them when a process starts.
 */
export const MALLOC_SETTINGS: Record<string, string> = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '32768',
  MALLOC_TRIM_THRESHOLD_: '131072',
}
