import {step, type Step} from './step.ts'

/** With a real kubectl, as an administrator. */
export const withKubectl: Step[] = [
  step('kubectl create rolebinding developers --clusterrole edit --group developers', {
    shows: /rolebinding.*developers created/,
  }),
  step('kubectl get --raw /trustadm/seen-clients', {shows: /"since"/}),
  step('kubectl describe ns', {shows: /kube-system/}),
  step(
    'kubectl -n kube-system annotate configmap trustadm-ca-rotation trustadm.io/operation=start-ca-rotation',
    {
      first: (stage) =>
        stage.client.configMaps.create({
          metadata: {name: 'trustadm-ca-rotation', namespace: 'kube-system'},
        }),
      shows: /annotated/,
    },
  ),
]
