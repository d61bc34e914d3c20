import type {Attack} from '../attack.ts'
import {inTurn} from './bodies.ts'

const AUTHN = '/apis/authentication.k8s.io/v1'
const AUTHZ = '/apis/authorization.k8s.io/v1'
const groups = Array.from({length: 20_000}, (_, number) => `group-${number}`)
const fake = (size: number) =>
  ['{"alg":"RS256","typ":"JWT"}', `{"iss":"x","sub":"${'x'.repeat(size)}"}`, 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.')

const REVIEWS: [path: string, spec: object][] = [
  [`${AUTHN}/tokenreviews`, {token: fake(100)}],
  [`${AUTHN}/tokenreviews`, {token: fake(700_000)}],
  [`${AUTHN}/tokenreviews`, {token: 'x', audiences: groups}],
  [
    `${AUTHZ}/subjectaccessreviews`,
    {user: 'x', groups, nonResourceAttributes: {path: '/', verb: 'get'}},
  ],
  [
    `${AUTHZ}/selfsubjectaccessreviews`,
    {resourceAttributes: {verb: 'get', resource: 'x'.repeat(500_000)}},
  ],
  [`${AUTHZ}/selfsubjectrulesreviews`, {namespace: 'default'}],
  [`${AUTHN}/selfsubjectreviews`, {}],
  ['/api/v1/namespaces/default/serviceaccounts/default/token', {audiences: groups}],
]

/** Questions about rights cost the server more than they cost the asker. */
export const reviews: Attack = {
  name: 'reviews',
  aim: 'reviews of tokens and rights, and tokens of service accounts',
  run: ({holdings, shoot, flood}) =>
    flood({perSecond: 40, atOnce: 4}, (number) => {
      const [path, spec] = inTurn(REVIEWS, number)
      const identity = number % 5 === 0 ? holdings.bootstrap : inTurn(holdings.nodes, number)
      return shoot(identity, {method: 'POST', path, body: JSON.stringify({spec})})
    }),
}
