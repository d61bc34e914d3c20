import {copyFile, readFile} from 'node:fs/promises'
import {isRunning} from '../../helpers/cluster.ts'
import {until} from '../../server/support.ts'
import {makeAuthority} from './authority.ts'
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

const inventory = step(
  'trustadm controllers --kubeconfig inventory.conf --controllers machine-approver,node-link',
  {first: (stage) => adminAs(stage, 'inventory.conf'), until: 'ready machine-approver,node-link'},
)

/** On a control plane without nodes, which nobody has to wait for. */
export const controlPlane: Step[] = [
  step('trustadm ca list', {shows: /^NAME .*\nca /}),
  step('trustadm ca rotate start --dry-run', {shows: /would begin/}),
  step('trustadm ca rotate start', {answers: [['Create new CAs', YES]], shows: /Phase Prepare/i}),
  step('trustadm ca rotate status', {shows: /Phase Prepare/i}),
  step('trustadm ca rotate complete --ignore replaced-here', {
    answers: [['This cannot be undone', YES]],
    shows: /No rotation is in progress/,
  }),
  step('trustadm ca rotate start --wait', {
    answers: [['Create new CAs', YES]],
    shows: /Phase Prepare/i,
  }),
  step('trustadm ca rotate complete --ignore replaced-here --wait', {
    answers: [['This cannot be undone', YES]],
    shows: /No rotation is in progress/,
  }),
  step(
    'trustadm ca add vpn-ca --description "clients of the VPN" --on-change "systemctl reload openvpn"',
    {shows: /^name +vpn-ca/},
  ),
  step('trustadm ca show vpn-ca', {shows: /clients of the VPN/}),
  step('trustadm ca remove vpn-ca', {
    answers: [['Destroy', YES]],
    shows: /The CA "vpn-ca" was removed/,
  }),
  step('trustadm ca add metrics-ca --signs servers --certificate ca.crt --key ca.key', {
    first: (stage) => makeAuthority(stage.file('work/ca')),
    shows: /servers of yours/,
  }),
  step('trustadm restart', {shows: /process \d+/}),
  step('trustadm backup plane.backup'),
  step('trustadm backup objects.backup --objects-only'),
  step('trustadm restore plane.backup --dry-run', {shows: /a control plane: \d+ keys/}),
  step('trustadm stop'),
  step('trustadm restore plane.backup --force', {needsEmbedded: true}),
  step('trustadm start', {shows: /process \d+/}),
  step('trustadm serve --print-unit', {shows: /^ExecStart=/m}),
  step('trustadm serve', {first: stopServer, until: 'ready '}),
  step("trustadm serve --controllers '*,-csr-approver,-csr-signer'", {
    until: 'ready ',
    async meanwhile(stage) {
      await approver.try(stage)
      await signer.try(stage)
      await inventory.try(stage)
    },
  }),
  step('trustadm init phase certs etcd', {shows: /^ {2}--trusted-ca-file /m}),
]

/** These run beside the server above. */
export const besideTheServer: Step[] = [approver, signer, inventory]
