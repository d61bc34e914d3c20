import assert from 'node:assert/strict'
import {readdir, readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {connectTo} from '../../../src/client/connect.ts'
import {resolveAccess} from '../../../src/client/kubeconfig-access.ts'
import {loadKubeconfig} from '../../../src/client/kubeconfig-files.ts'
import type {ServerAccess} from '../../../src/client/server-access.ts'
import {whoAmI} from '../../../src/node/acceptance.ts'
import {eventually} from '../../controllers/signing/support.ts'
import {LiveClients} from '../../helpers/live-clients.ts'
import type {SeveralServers} from '../../helpers/several-servers.ts'

type Machine = SeveralServers['machines'][number]

/** Of each server. */
const COUNTS = {http1Watches: 2, http2Watches: 2, keepAlive: 3, newConnections: 3}

/** What a kubeconfig of a machine says now, for the server of a machine itself. */
export async function accessTo({port}: Machine, {dir}: Machine): Promise<ServerAccess> {
  const access = await resolveAccess(await loadKubeconfig(join(dir, 'admin.conf')))
  return {...access, server: `https://127.0.0.1:${port}`}
}

/** Clients of every server: watches, requests on connections that stay open, and new connections. */
export const startClients = (
  machines: readonly Machine[],
  counts = COUNTS,
): Promise<LiveClients[]> =>
  Promise.all(machines.map((one) => LiveClients.start(counts, () => accessTo(one, one))))

/** Stops them. Nothing has failed. */
export async function requireUnharmed(all: readonly LiveClients[], counts = COUNTS): Promise<void> {
  for (const {failures, answered, watches} of all) {
    assert.deepEqual(failures, [])
    assert.ok(answered > 5, String(answered))
    assert.equal(watches.length, counts.http1Watches + counts.http2Watches)
  }
  await Promise.all(all.map((clients) => clients.stop()))
}

export const pki = (dir: string, name: string) => readFile(join(dir, 'pki', name), 'utf8')

/** Every machine has the same CAs and keys, and no file of a rotation. */
export async function requireSame(machines: readonly Machine[]): Promise<void> {
  const [first, ...others] = machines
  const dir = first?.dir ?? ''
  const names = await readdir(join(dir, 'pki'))
  const shared = names.filter((name) => /(?:ca|^sa)\.(?:crt|key|pub)$/.test(name))
  assert.ok(shared.includes('client-ca.key') || shared.includes('ca.key'))
  for (const one of others)
    for (const name of shared) assert.equal(await pki(one.dir, name), await pki(dir, name), name)
  for (const one of machines) {
    const left = (await readdir(join(one.dir, 'pki'))).filter(
      (name) => name === 'rotation' || name.startsWith('.'),
    )
    assert.deepEqual(left, [], one.name)
  }
}

/** A machine may follow the last step after the command that did it has ended. */
export async function untilSame(machines: readonly Machine[]): Promise<void> {
  const isSame = () =>
    requireSame(machines).then(
      () => true,
      () => false,
    )
  await eventually(isSame)
  await requireSame(machines)
}

/** The user that a server takes this client for; empty if it knows none. */
export async function knownAs(access: ServerAccess): Promise<string> {
  const client = connectTo(access, {retry: {attempts: 1}})
  try {
    return (await whoAmI(client)) ?? ''
  } finally {
    await client.close()
  }
}
