import {planeCommand} from '../../control-plane/plane-command.ts'
import type {JoinedPlane} from '../join-plane.ts'
import {columnsOf, formatFields} from '../layout.ts'
import type {View} from '../output.ts'

/** What `join --control-plane` prints. */
export const joinPlaneView: View<JoinedPlane> = {
  table({endpoint, kubeconfig, dir, server}) {
    const fields = [
      ['endpoint', endpoint],
      ['kubeconfig', kubeconfig],
      ['folder', dir],
      ['server', server],
    ] as const
    const options = {columns: columnsOf(process.stdout), width: 15, indent: 2}
    return [
      '\nThis machine is part of the control plane, and its server is ready\n\n',
      formatFields(fields, options),
      `\nCheck it:               ${planeCommand(dir, 'status')}\n`,
      `Start it at every boot: ${planeCommand(dir, 'init --systemd')}\n`,
    ].join('')
  },
  name: ({endpoint}) => [endpoint],
}
