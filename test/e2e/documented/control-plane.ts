import {copyFile, readFile} from 'node:fs/promises'
import {isRunning} from '../../helpers/cluster.ts'
import {until} from '../../server/support.ts'
import type {Stage} from './stage.ts'
import {step, type Step} from './step.ts'

const YES = 'y\r'

/** The server in the background makes room for one in the foreground. */
async function stopServer(stage: Stage): Promise<void> {
  const {pid} = JSON.parse(await readFile(stage.file('plane/server.json'), 'utf8')) as {pid: number}
  process.kill(pid, 'SIGTERM')
  await until(() => !isRunning(pid))
}

const adminAs = (stage: Stage, name: string) =>
  copyFile(stage.file('plane/admin.conf'), stage.file(`work/${name}`))

const approver = step(
  'trustadm controllers --kubeconfig approver.conf --controllers csr-approver',
  {first: (stage) => adminAs(stage, 'approver.conf'), until: 'ready csr-approver'},
)
const signer = step(
  'trustadm controllers --kubeconfig signer.conf --controllers csr-signer --cluster-signing-cert-file ca.crt --cluster-signing-key-file ca.key --issuance-log issuance.log',
  {
    async first(stage) {
      await adminAs(stage, 'signer.conf')
      for (const name of ['ca.crt', 'ca.key'])
        await copyFile(stage.file(`plane/pki/${name}`), stage.file(`work/${name}`))
    },
    until: 'ready csr-signer',
  },
)

/** On a control plane without nodes, which nobody has to wait for. */
export const controlPlane: Step[] = [
  step('trustadm ca rotate start', {answers: [['Create new CAs', YES]], shows: /Phase Prepare/i}),
  step('trustadm ca rotate status', {shows: /Phase Prepare/i}),
  step('trustadm ca rotate complete', {
    answers: [['This cannot be undone', YES]],
    shows: /No rotation is in progress/,
  }),
  step('trustadm serve', {first: stopServer, until: 'ready '}),
  step("trustadm serve --controllers '*,-csr-approver,-csr-signer'", {
    until: 'ready ',
    async meanwhile(stage) {
      await approver.try(stage)
      await signer.try(stage)
    },
  }),
]

/** These run beside the server above. */
export const besideTheServer: Step[] = [approver, signer]
