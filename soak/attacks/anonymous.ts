import {randomBytes} from 'node:crypto'
import {ANONYMOUS, type Attack} from '../attack.ts'
import {inTurn} from './bodies.ts'

const LONG = 'x'.repeat(6000)
const PATHS = [
  '/api/v1/secrets',
  `/api/v1/namespaces/${LONG}/secrets`,
  '/api/v1/nodes?watch=1',
  '/version',
  '/healthz',
  `/${LONG}`,
  '/api/v1/namespaces/kube-public/configmaps/cluster-info',
]

/** Cheap requests that each would be a line of the audit log. */
export const anonymous: Attack = {
  name: 'anonymous',
  aim: 'requests without credentials, and tokens that are guessed',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 400, atOnce: 8}, (number) => {
      const headers = {'user-agent': inTurn(['soak', LONG], number)}
      const path = inTurn(PATHS, number)
      if (number % 5 > 0) return shoot(ANONYMOUS, {path, headers})
      const token = inTurn(
        [
          `${randomBytes(3).toString('hex')}.${randomBytes(8).toString('hex')}`,
          `${holdings.bootstrap.token?.slice(0, 7) ?? ''}${randomBytes(8).toString('hex')}`,
          `${holdings.tenant.token ?? ''}x`,
          randomBytes(1000).toString('base64url'),
        ],
        number / 5,
      )
      return shoot(ANONYMOUS, {path, headers: {...headers, authorization: `Bearer ${token}`}})
    }),
}
