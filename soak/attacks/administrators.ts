import type {Attack, Field, Identity} from '../attack.ts'
import {createPlainRequest} from '../../src/pki/create.ts'
import {generateKeys, privateKeyPem} from '../../src/pki/keys.ts'
import {CSRS, freshName, inTurn} from './bodies.ts'

const BETA = CSRS.replace('/v1/', '/v1beta1/')
const MASTERS = {commonName: 'kubernetes-admin', organizations: ['system:masters']}
const SIGNERS = [
  'kubernetes.io/legacy-unknown',
  'kubernetes.io/kube-apiserver-client',
  'kubernetes.io/kube-apiserver-client-kubelet',
  'kubernetes.io/kubelet-serving',
]
const USAGES = ['digital signature', 'client auth']
const DECISION = {type: 'Approved', status: 'True', reason: 'Soak', message: 'by itself'}

/** Asks for an administrator's certificate in every way that there is, and decides on it too. */
export const administrators: Attack = {
  name: 'administrators',
  aim: 'certificates of system:masters, approved by whoever asks',
  run: (field) =>
    field.flood({perSecond: 8, atOnce: 2}, async (number) => {
      const {holdings, shoot} = field
      const identity = inTurn([holdings.bootstrap, ...holdings.nodes, holdings.tenant], number)
      const collection = number % 2 === 0 ? BETA : CSRS
      const keys = await generateKeys()
      const pem = await createPlainRequest(MASTERS, keys)
      const name = freshName('master')
      const signerName = inTurn(SIGNERS, number >> 1)
      const request = {
        metadata: {name},
        spec: {request: Buffer.from(pem).toString('base64'), signerName, usages: USAGES},
        status: {conditions: [DECISION], certificate: Buffer.from(pem).toString('base64')},
      }
      await shoot(identity, {method: 'POST', path: collection, body: JSON.stringify(request)})
      const path = `${collection}/${name}`
      const body = JSON.stringify(request)
      await shoot(identity, {method: 'PUT', path: `${path}/approval`, body})
      await shoot(identity, {method: 'PUT', path: `${path}/status`, body})
      await useIssued(field, identity, path, privateKeyPem(keys.privateKey))
    }),
}

/** A certificate that came out of it is tried at once. */
async function useIssued(field: Field, identity: Identity, path: string, key: string) {
  const {status, text} = await field.shoot(identity, {path})
  if (status !== 200) return
  const {status: state} = JSON.parse(text) as {status?: {certificate?: string}}
  const certificate = Buffer.from(state?.certificate ?? '', 'base64').toString()
  if (!certificate.includes('BEGIN CERTIFICATE-')) return
  const {status: found} = await field.shoot(
    {name: freshName('master'), certificate, key},
    {path: '/api/v1/secrets'},
  )
  if (found === 200) field.breach(`${identity.name} got a certificate of an administrator`)
}
