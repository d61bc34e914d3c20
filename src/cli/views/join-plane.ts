import type {JoinedPlane} from '../join-plane.ts'
import {columnsOf, formatFields} from '../layout.ts'
import type {View} from '../output.ts'

/** What `join --control-plane` prints. */
export const joinPlaneView: View<JoinedPlane> = {
  table({endpoint, kubeconfig, dir}) {
    const fields = [
      ['endpoint', endpoint],
      ['kubeconfig', kubeconfig],
      ['folder', dir],
    ] as const
    const options = {columns: columnsOf(process.stdout), width: 15, indent: 2}
    return [
      '\nThis machine has the CAs of the control plane, and certificates of its own\n\n',
      formatFields(fields, options),
      '\nIts server is not started: all servers of a control plane need the same store.\n',
      'If the others use etcd, start it with "trustadm init" and their --etcd-servers\nand --etcd-prefix.\n',
    ].join('')
  },
  name: ({endpoint}) => [endpoint],
}
