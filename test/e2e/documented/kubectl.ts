import {sleep} from '../../../src/runtime.ts'
import type {Stage} from './stage.ts'
import {must, step, type Step} from './step.ts'

/** With a real kubectl, as an administrator. */
export const withKubectl: Step[] = [
  step('kubectl create rolebinding developers --clusterrole edit --group developers', {
    shows: /rolebinding.*developers created/,
  }),
  step('kubectl get --raw /trustadm/seen-clients', {shows: /"since"/}),
  step('kubectl describe ns', {shows: /kube-system/}),
  step('kubectl --namespace kube-system delete leases --selector trustadm.io/node-certificate', {
    shows: /No resources found/,
  }),
  step(
    'kubectl -n kube-system annotate configmap trustadm-ca-rotation trustadm.io/operation=start-ca-rotation',
    {
      first: (stage) =>
        stage.client.configMaps.create({
          metadata: {name: 'trustadm-ca-rotation', namespace: 'kube-system'},
        }),
      shows: /annotated/,
      then: untilPrepared,
    },
  ),
]

/** The server rotates on its own: its folder can be removed only when it is done. */
async function untilPrepared(stage: Stage): Promise<void> {
  for (;;) {
    const text = await must(stage, 'trustadm ca rotate status --output json')
    const {action, isSettled} = JSON.parse(text) as {action?: string; isSettled: boolean}
    if (action === 'start' && isSettled) return
    await sleep(200)
  }
}
