import {INIT_PHASE_NAMES} from '../control-plane/init/names.ts'
import {TrustError} from '../errors.ts'

/**
 * Refuses a part of a phase that has none, as in kubeadm's `init phase kubeconfig admin`. "all" is accepted: kubeadm has it for
 * most phases.
 */
export function requireWholePhase([named, part]: readonly string[]): void {
  const phase = INIT_PHASE_NAMES.find((name) => name === named)
  if (phase === undefined || phase === 'certs') return
  if (part === undefined || part === 'all' || part.startsWith('-')) return
  throw new TrustError('USAGE', `the phase ${phase} cannot be limited to a part of it`, {
    hints: [
      `run "trustadm init phase ${phase}": what is already correct is kept`,
      'only the phase certs has parts, as in "trustadm init phase certs apiserver"',
    ],
  })
}
