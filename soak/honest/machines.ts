import {connectTo} from '../../src/client/connect.ts'
import {waitForCertificate} from '../../src/enrollment/wait.ts'
import {clientRequest} from '../../src/node/client-certificate.ts'
import {generateKeys, privateKeyPem} from '../../src/pki/keys.ts'
import {sleep} from '../../src/runtime.ts'
import type {Cluster} from '../../test/helpers/cluster.ts'
import type {Identity} from '../attack.ts'
import {joined} from '../../test/helpers/joined.ts'
import type {Ledger} from './ledger.ts'
import type {Waits} from './waits.ts'

const EVERY = 3000
const LONGEST_WAIT = 20_000

type Machine = Required<Omit<Identity, 'token' | 'address'>>

/** One machine after the other joins by a token that nobody else has, says that it lives, and renews its certificate. */
export async function joinMachines(
  cluster: Cluster,
  {folder, ca}: {folder: string; ca: string},
  {ledger, waits}: {ledger: Ledger; waits: Waits},
  signal: AbortSignal,
): Promise<void> {
  for (let number = 0; !signal.aborted; number++) {
    const name = `honest-${number}`
    const machine = await waits.time('join', signal, () =>
      joined(cluster, cluster.token, folder, name),
    )
    if (machine !== undefined) {
      ledger.joined(name)
      await live(cluster.endpoint, ca, machine, waits, signal)
    }
    await sleep(EVERY, signal)
  }
}

async function live(
  server: string,
  ca: string,
  {name, certificate, key}: Machine,
  waits: Waits,
  signal: AbortSignal,
): Promise<void> {
  const access = {server, ca, clientCertificate: {certificate, key}}
  const client = connectTo(access, {retry: {attempts: 1}, timeout: LONGEST_WAIT})
  try {
    await waits.time('node status', signal, () =>
      client.nodes.patch(
        name,
        {status: {conditions: [{type: 'Ready', status: 'True'}]}},
        {type: 'strategic', subresource: 'status', signal},
      ),
    )
    await waits.time('lease', signal, () =>
      client.leases.create(
        {metadata: {name, namespace: 'kube-node-lease'}, spec: {holderIdentity: name}},
        {signal},
      ),
    )
    await waits.time('renewal', signal, async () => {
      const keys = await generateKeys()
      const csr = await client.csrs.create(await clientRequest(name, keys), {signal})
      return {
        pem: await waitForCertificate(client, csr, {timeout: LONGEST_WAIT}),
        key: privateKeyPem(keys.privateKey),
      }
    })
  } finally {
    await client.close()
  }
}
