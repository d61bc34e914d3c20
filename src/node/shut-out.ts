import {shellWord} from '../client/printable.ts'
import {isUnknownAuthority} from '../client/connection-errors.ts'
import {elsewhere, hasCode, TrustError, type Hint} from '../errors.ts'
import {defaultNodeDir} from '../fs/default-folders.ts'

/** This machine, as its commands name it. */
export interface Self {
  dir: string
  nodeName: string
}

/** What a machine that has lost its cluster has to do. `join` itself prints how to get its name back. */
function joinAgain({dir, nodeName}: Self): Hint[] {
  const flags = dir === defaultNodeDir() ? [] : [`--dir ${shellWord(dir)}`]
  const leave = ['trustadm node leave', ...flags].join(' ')
  const added = [...flags, `--node-name ${shellWord(nodeName)}`].join(' ')
  return [
    elsewhere(
      'to join again, get a join command with "trustadm token create --print-join-command" on the control plane',
    ),
    `then run "${leave}" here, and that join command with "${added}" added`,
  ]
}

const hintsIfRefused = (self: Self): Hint[] => [
  elsewhere(
    `it may have been revoked: "trustadm certificate list --revoked" on the control plane shows why, and "trustadm certificate unrevoke --node ${shellWord(self.nodeName)}" takes that back`,
  ),
  'or the CA of the certificate was replaced without this machine, which then has to join again',
  ...joinAgain(self),
]

const hintsIfUnknown = (self: Self): Hint[] => [
  'if you did not expect that, stop: someone may be intercepting the connection to the cluster',
  'if the CA was rotated without this machine, it has to join again',
  ...joinAgain(self),
]

/** A failure as a person at this machine has to read it. The client's own hints are for people with a kubeconfig. */
export function asShutOut(error: unknown, self: Self): unknown {
  if (hasCode(error, 'UNAUTHORIZED')) {
    return new TrustError(
      'UNAUTHORIZED',
      'the cluster does not accept the certificate of this node',
      {cause: error, facts: error.facts, hints: hintsIfRefused(self)},
    )
  }
  if (!hasCode(error, 'SERVER_NOT_TRUSTED') || !isUnknownAuthority(error.facts.systemCode))
    return error
  const {server} = error.facts
  const who = typeof server === 'string' ? server : 'the server'
  return new TrustError(
    'SERVER_NOT_TRUSTED',
    `${who} presents a certificate of a CA that this machine does not trust`,
    {cause: error, facts: error.facts, hints: hintsIfUnknown(self)},
  )
}

/** The hints of such a failure that another process has noted; undefined if it is another one. */
export function hintsOfNoted(
  {code, systemCode}: {code: string; systemCode?: string},
  self: Self,
): Hint[] | undefined {
  if (code === 'UNAUTHORIZED') return hintsIfRefused(self)
  return code === 'SERVER_NOT_TRUSTED' && isUnknownAuthority(systemCode)
    ? hintsIfUnknown(self)
    : undefined
}
