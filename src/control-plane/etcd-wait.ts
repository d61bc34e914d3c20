import {messageOf, TrustError} from '../errors.ts'
import {isDistrust} from '../storage/etcd/failure.ts'
import type {Plane} from './config/plane.ts'
import {removeStartFailure, writeStartFailure} from './server-state.ts'

/** The certificates of etcd and of this machine do not match: most likely the CA of etcd has rotated without it. */
export function explained({settings}: Plane, error: unknown): unknown {
  if (!(error instanceof Error) || !isDistrust(error)) return error
  const {etcdCaFile, etcdCertFile, etcdKeyFile} = settings
  const files = [etcdCaFile, etcdCertFile, etcdKeyFile].filter((file) => file !== undefined)
  const uses = files.length === 0 ? 'no files' : files.join(', ')
  return new TrustError('STORE_UNREACHABLE', error.message, {
    cause: error,
    hints: [
      `if the CA of etcd was rotated while this machine was off, copy etcd/ca.crt, apiserver-etcd-client.crt and apiserver-etcd-client.key from the certificates of a machine that has them; this one uses ${uses}`,
      'if not, check --etcd-cafile, --etcd-certfile and --etcd-keyfile',
    ],
  })
}

/** What a server does while it waits for etcd: the reason is in its log, and shown by the command that started it. */
export function waitingFor(plane: Plane, log: (line: string) => void) {
  let written: Promise<void> | undefined
  return {
    tell(reason: unknown): void {
      const error = explained(plane, reason)
      log(`error: ${messageOf(error)}; waiting until it does`)
      const hints = error !== reason && error instanceof TrustError ? error.suggestions : []
      for (const hint of hints) log(`hint: ${hint}`)
      written = Promise.resolve(written).then(() =>
        writeStartFailure(plane, error, {isWaiting: true}),
      )
    },
    /** etcd responds. */
    async end(): Promise<void> {
      if (written === undefined) return
      await written
      await removeStartFailure(plane)
    },
  }
}
