import {closeSync, openSync} from 'node:fs'
import {open} from 'lmdb'
import type {RootDatabase} from 'lmdb'

/**
 * In bytes, far more than a store takes; it is not memory. When a map has become too small, the library makes one twice as
 * large and keeps the old one until the file is closed. Pages that were read through both would count twice as resident.
 */
const ADDRESS_SPACE = 64 * 2 ** 30

/**
 * Opens an LMDB file. In the default mode of this library a commit is visible, and may be acknowledged, before it is synced.
 * With `overlappingSync` off, LMDB itself orders a commit: it writes the pages where no snapshot needs what was there,
 * syncs them, and only then writes the meta page that makes them count, through a descriptor opened with O_DSYNC. The
 * library settles the promise when that write has returned. So what is acknowledged is on the disk, and a crash at any point
 * leaves the state before the commit or after it.
 */
export function openLmdb(file: string): RootDatabase<Buffer, Buffer> {
  requireOpenable(file)
  return open<Buffer, Buffer>(file, {
    overlappingSync: false,
    // Commits are batched in our code. The library would keep its own promise for each, and crash if it is rejected.
    eventTurnBatching: false,
    noSubdir: true,
    mapSize: ADDRESS_SPACE,
    keyEncoding: 'binary',
    encoding: 'binary',
  })
}

/** The library crashes if LMDB cannot open its three descriptors. So this is tried first, where it is an ordinary error. */
export function requireOpenable(file: string): void {
  const descriptors: number[] = []
  try {
    for (const path of [file, file, `${file}-lock`]) descriptors.push(openSync(path, 'r+'))
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor)
  }
}
