import {rm, writeFile} from 'node:fs/promises'
import {blockOf} from './commands.ts'
import type {Stage} from './stage.ts'
import {must, step, type Step} from './step.ts'

const FILE = 'work/bootstrap-kubelet.conf'
const YES = 'y\r'

/** The credential that the documentation calls 3f9a2c81d0b4. */
async function createCredential(stage: Stage): Promise<void> {
  const {id} = JSON.parse(
    await must(stage, 'trustadm bootstrap-credential create -o json --out another.conf'),
  ) as {id: string}
  await rm(stage.file('work/another.conf'))
  stage.values.set('credential', id)
}

export const fleet: Step[] = [
  step('trustadm bootstrap-credential create --out bootstrap-kubelet.conf', {shows: /^created/}),
  step('trustadm machine create worker-7 --dns worker-7.example.com', {
    shows: /machine "kube-system\/worker-7" created/,
  }),
  step('trustadm machine create --filename inventory.csv --dry-run', {
    first: (stage) =>
      writeFile(stage.file('work/inventory.csv'), blockOf('docs/operations.md', 'name,dns')),
    shows: /would create machine "kube-system\/worker-2"/,
  }),
  step('trustadm machine create --filename inventory.csv', {shows: /worker-2" created/}),
  step('trustadm machine create -f inventory.csv', {shows: /worker-2" unchanged/}),
  step('trustadm certificate simulate --node worker-1.example.com', {
    shows: /would get a certificate at once/,
  }),
  step('trustadm machine list', {shows: /^NAME .*\nworker-1 +expected/}),
  step('trustadm join --bootstrap-kubeconfig bootstrap-kubelet.conf', {
    on: {host: 'worker-2.example.com'},
    shows: /This machine is the node "worker-2\.example\.com"/,
  }),
  step('trustadm machine renew worker-7', {shows: /worker-7" renewed/}),
  step('trustadm machine delete worker-2', {shows: /worker-2" deleted/}),
  step('trustadm bootstrap-credential list', {first: createCredential, shows: /^ID .* live /s}),
  step('trustadm bootstrap-credential show 3f9a2c81d0b4', {shows: /No machine has joined with it/}),
  step('trustadm bootstrap-credential revoke 3f9a2c81d0b4', {
    answers: [['Revoke', YES]],
    shows: /revoked the bootstrap credential/,
  }),
  step('trustadm bootstrap-credential unrevoke 3f9a2c81d0b4', {shows: /is accepted again/}),
  step('trustadm bootstrap-credential revoke 3f9a2c81d0b4 --with-machines', {
    first: createCredential,
    answers: [['Revoke', YES]],
    shows: /deleted/,
  }),
  step('trustadm bootstrap-credential create --kind token --out bootstrap-kubelet.conf', {
    first: (stage) => rm(stage.file(FILE)),
    shows: /^created the bootstrap credential \w+ \(token\)/,
  }),
]
