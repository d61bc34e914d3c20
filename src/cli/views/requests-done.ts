import {shellWord} from '../../client/printable.ts'
import type {Decision, DecidedRequests} from '../../control-plane/requests/decide.ts'
import type {DownloadedCertificate} from '../../control-plane/requests/obtain.ts'
import type {ObtainedCertificate} from '../../control-plane/requests/obtain.ts'
import type {RejoinGrant} from '../../control-plane/requests/rejoin.ts'
import type {ClusterFlagValues} from '../cluster.ts'
import {columnsOf, paragraph} from '../layout.ts'
import type {View} from '../output.ts'
import {clusterCommand} from '../same-cluster.ts'
import {shown, shownValue} from './requests-text.ts'

const DONE: Record<Decision, string> = {approve: 'approved', deny: 'denied'}

/** In kubectl's words, plus a note if it was already decided. */
export const decidedView: View<DecidedRequests> = {
  table: ({requests, dryRun}) =>
    requests
      .map(({name, decision, changed}) => {
        const before = changed ? '' : ' already'
        return dryRun && changed
          ? `would ${decision} certificate request "${shown(name)}"\n`
          : `certificate request "${shown(name)}" ${DONE[decision]}${before}\n`
      })
      .join(''),
  name: ({requests}) => requests.map(({name}) => shown(name)),
}

export const downloadView: View<DownloadedCertificate & {file: string | null}> = {
  table: ({pem, file}) => (file === null ? pem : `certificate written to ${file}\n`),
  name: ({name}) => [shown(name)],
}

export const obtainedView = (flags: ClusterFlagValues): View<ObtainedCertificate> => ({
  table({name, certificate, files, state}) {
    if (!certificate) {
      const approve = clusterCommand(flags, `certificate approve ${shellWord(name)}`)
      return `certificate request "${shown(name)}" ${state.toLowerCase()}\napprove it: ${approve}\n`
    }
    const rows = [
      ['certificate', files.certificate],
      ['key', files.key],
      ['kubeconfig', files.kubeconfig],
      ['valid until', certificate.notAfter],
    ] as const
    return rows
      .filter(([, value]) => value !== undefined)
      .map(([label, value]) => `${label.padEnd(14)}${value ?? ''}\n`)
      .join('')
  },
  name: ({name}) => [shown(name)],
})

/** Which machine a grant lets in. */
function letIn({pin, requester, request}: RejoinGrant): string {
  if (pin === null) {
    return `the next machine that authenticates as ${shownValue(requester ?? '')} may join`
  }
  return request === null
    ? `the machine with the key ${pin} may join`
    : `the machine of request "${shown(request)}" with the key ${pin} may join`
}

export const rejoinView: View<RejoinGrant> = {
  table(grant) {
    const {node, allowedUntil, wasAllowed} = grant
    if (allowedUntil !== null) {
      const text = `${letIn(grant)} as "${node}", once, until ${allowedUntil}`
      return paragraph('', text, columnsOf(process.stdout))
    }
    return wasAllowed
      ? `no machine with a new key may join as "${node}" now\n`
      : `there was no permission to revoke for "${node}"\n`
  },
  name: ({node}) => [node],
}

/** The summary of `certificate review`. */
export interface Review {
  approved: string[]
  denied: string[]
  skipped: string[]
  /** Decided or deleted by someone else in the meantime, or refused by the server. */
  failed: string[]
}

export const reviewView: View<Review> = {
  table({approved, denied, skipped, failed}) {
    const counts = [
      [approved.length, 'approved'],
      [denied.length, 'denied'],
      [skipped.length, 'skipped'],
      [failed.length, 'failed'],
    ] as const
    const told = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`)
    return told.length === 0 ? '' : `${told.join(', ')}\n`
  },
  name: ({approved, denied}) => [...approved, ...denied].map(shown),
}
