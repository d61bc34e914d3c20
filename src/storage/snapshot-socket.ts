import {once} from 'node:events'
import {rmSync} from 'node:fs'
import {createConnection, createServer, type Server, type Socket} from 'node:net'
import {TrustError, systemCode} from '../errors.ts'
import {SocketAddresses} from '../fs/socket-addresses.ts'
import {sendTo, writeSnapshot, type SnapshotSource} from './snapshot.ts'

/** In the folder of the store, which only its owner can enter: whoever can connect could read the files, too. */
const SNAPSHOT_SOCKET = 'snapshot.sock'
/** A reader that takes nothing for so long is given up, so that the history it holds can be dropped. */
const PATIENCE = 30_000
/** Two would only take turns at the same disk. */
const MOST_READERS = 2

export interface SnapshotServerOptions {
  /** The version of the program. */
  program: string
  now: () => Date
  onError: (error: unknown) => void
}

/**
 * Streams a snapshot of the store to every process that connects to a socket in the folder of the store. The caller holds the lock of
 * the folder. Returns a function that ends it.
 */
export async function serveSnapshots(
  folder: string,
  storage: SnapshotSource,
  {program, now, onError}: SnapshotServerOptions,
): Promise<() => Promise<void>> {
  const addresses = new SocketAddresses(folder)
  const open = new Set<Socket>()
  const server: Server = createServer((socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    socket.on('error', () => socket.destroy())
    socket.setTimeout(PATIENCE, () => socket.destroy())
    const about = {createdAt: now().toISOString(), program}
    writeSnapshot(storage, about, (bytes) => sendTo(socket, bytes)).then(
      () => socket.end(),
      (error: unknown) => {
        // Usually the reader has gone away.
        if (!socket.destroyed) onError(error)
        socket.end()
      },
    )
  })
  server.maxConnections = MOST_READERS
  const path = addresses.of(SNAPSHOT_SOCKET)
  try {
    // Left by a process that was killed: the lock of the folder says that no other uses it.
    rmSync(path, {force: true})
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({path}, resolve)
    })
  } catch (error) {
    addresses.close()
    throw error
  }
  server.on('error', onError)
  server.unref()
  return async () => {
    for (const socket of open) socket.destroy()
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
    })
    addresses.close()
  }
}

/** The snapshot of the server that uses the store; undefined if it serves none. */
export async function connectToSnapshots(
  folder: string,
): Promise<AsyncIterable<Buffer> | undefined> {
  const addresses = new SocketAddresses(folder)
  const socket = createConnection({path: addresses.of(SNAPSHOT_SOCKET)})
  try {
    await once(socket, 'connect')
  } catch (error) {
    if (['ECONNREFUSED', 'ENOENT'].includes(systemCode(error) ?? '')) return undefined
    throw error
  } finally {
    addresses.close()
  }
  socket.setTimeout(PATIENCE, () => {
    socket.destroy(new TrustError('TIMED_OUT', 'the server does not send its snapshot'))
  })
  return socket as AsyncIterable<Buffer>
}
