import {elsewhere, TrustError} from '../errors.ts'
import type {Certificate} from '../pki/certificate.ts'
import {formatName} from '../pki/distinguished-name.ts'
import {isPinned, pinOf, type Pin} from '../pki/pins.ts'
import {verifyChain} from '../pki/verify.ts'
import {printable} from '../client/printable.ts'

/**
 * Refuses a bundle unless every CA in it is pinned or chains up to a pinned one. kubeadm requires only one pinned CA, and so
 * accepts any other CA beside it.
 */
export function requirePinned(
  authorities: readonly Certificate[],
  pins: ReadonlySet<Pin>,
  now: Date,
): void {
  const roots = authorities.filter((one) => isPinned(one, pins))
  if (roots.length === 0) throw noneIsPinned(authorities)
  const others = authorities.filter((one) => !isPinned(one, pins))
  for (const other of others) {
    const {ok} = verifyChain(other, {roots, intermediates: others, usage: 'server auth', now})
    if (!ok) throw unpinned(other)
  }
}

function noneIsPinned(authorities: readonly Certificate[]): TrustError {
  const found = authorities.map(pinOf)
  const keys =
    found.length > 0 ? `none of the public keys ${found.join(', ')} is pinned` : 'there is none'
  return new TrustError(
    'PIN_MISMATCH',
    `the cluster CA in cluster-info is not the pinned one: ${keys}`,
    {
      facts: {found},
      hints: [
        'check that the hash was copied completely, and that the address belongs to the same cluster',
        elsewhere(
          'if the CAs of the cluster were rotated since, get a new join command: "trustadm token create --print-join-command" on the control plane',
        ),
        'if neither is the case, stop: someone is intercepting the connection to the cluster',
      ],
    },
  )
}

function unpinned(certificate: Certificate): TrustError {
  const pin = pinOf(certificate)
  const name = printable(formatName(certificate.subject))
  return new TrustError(
    'CA_UNPINNED',
    `cluster-info contains a CA that is neither pinned nor signed by a pinned one: ${name}, ${pin}`,
    {
      facts: {pin},
      hints: [
        'during a rotation of the CA, get a new join command from the control plane: it pins both CAs',
        'add this hash only if the operator of the cluster gave it to you',
      ],
    },
  )
}
