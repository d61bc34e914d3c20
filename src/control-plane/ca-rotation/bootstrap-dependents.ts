import type {BootstrapCredential} from '../../controllers/approval/bootstrap-credentials.ts'
import {SERVICE_ACCOUNT_KEYS} from '../../pki/catalog.ts'
import {CLUSTER_CA} from '../certificates.ts'
import {type Dependent, type DependentOptions, type Evidence, partsOf} from './dependent.ts'
import type {Journal} from './journal.ts'

const CREATE = 'trustadm bootstrap-credential create'

/** Its CA signs nothing else and stays, but its kubeconfig in the images has the CAs of the time when it was made. */
const certificate = ({id, object}: BootstrapCredential): Dependent => ({
  kind: 'bootstrap',
  name: id,
  reasons: [
    `bootstrap certificate in ${object}: its kubeconfig has only the old CA of the API server, so that machines that start with it will not recognize the server`,
  ],
  todo: `put another one into the image of your machines ("${CREATE} --out bootstrap-kubelet.conf"), then revoke this one ("trustadm bootstrap-credential revoke ${id}"); or go on with --ignore ${id}`,
})

/** Its Secret has another token once the key changes; which of them the images have is not known. */
function token({object}: BootstrapCredential, isKeyLeaving: boolean): Dependent {
  const name = object.replace(/^Secret /, '')
  const key = isKeyLeaving
    ? 'the old key has signed the token that machines have, and the server will refuse it'
    : 'its kubeconfig has only the old CA of the API server'
  return {
    kind: 'bootstrap',
    name,
    reasons: [`bootstrap token of a service account in ${object}: ${key}`],
    todo: `put a new kubeconfig with it into the image of your machines ("${CREATE} --kind token --out bootstrap-kubelet.conf"), then go on with --ignore ${name}`,
  }
}

/** Bootstrap credentials that machines may still start with and that would not work any more. Those made since the kubeconfigs have both CAs have both. */
export function bootstrapDependents(
  {units, renewedAt = ''}: Journal,
  {bootstrap = []}: Evidence,
  {on, now}: DependentOptions,
): Dependent[] {
  if (on === 'new') return []
  const end = units.find(({id}) => id === CLUSTER_CA)?.old.notAfter
  const isOver = end !== undefined && Date.parse(end) <= now.getTime()
  const isServerLeaving = partsOf(units, CLUSTER_CA, on).pins.size > 0 && !isOver
  const isKeyLeaving = partsOf(units, SERVICE_ACCOUNT_KEYS.id, on).pins.size > 0
  const isOld = ({created, expires}: BootstrapCredential) =>
    !(Date.parse(created ?? '') > Date.parse(renewedAt)) &&
    !(Date.parse(expires ?? '') <= now.getTime())
  return bootstrap.filter(isOld).flatMap((one) => {
    if (one.kind === 'certificate') return isServerLeaving ? [certificate(one)] : []
    return isServerLeaving || isKeyLeaving ? [token(one, isKeyLeaving)] : []
  })
}
