import {HONEST, type Attack} from '../attack.ts'
import {CSRS, inTurn} from './bodies.ts'

/** As many lines of the audit log as possible, to push out those of others. The soak looks afterwards whether they are there. */
export const auditLines: Attack = {
  name: 'audit-lines',
  aim: 'refused and harmless requests that push out the audit log, from the address of the administrator',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 2000, atOnce: 32}, (number) => {
      const identity = inTurn([holdings.tenant, holdings.bootstrap, ...holdings.nodes], number)
      const path = inTurn(['/api/v1/namespaces/kube-system/secrets', '/version', CSRS], number)
      const long = {'user-agent': 'x'.repeat(1000)}
      const near = {...identity, name: `${identity.name}, near`, address: HONEST}
      return shoot(near, {path: path === CSRS ? `${CSRS}/none` : path, headers: long})
    }),
}
