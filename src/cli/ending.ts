import * as Flags from '@oclif/core/flags'
import type {CertificateReport, ExpirationReport} from '../control-plane/expiration.ts'
import {isForPeople} from './flags.ts'
import type {ProgressOptions} from './progress.ts'

export const within = Flags.string({
  helpValue: '<duration>',
  summary: 'exit with 7 if a certificate or a CA ends within this time, as in "30d" or "12h"',
})

interface EndingFlags extends Pick<ProgressOptions, 'quiet' | 'verbose'> {
  within?: string | undefined
  output: string
}

/** Checks the value of --within. The result says whether something ends within it, and tells people what. */
export async function endingCheck(
  flags: EndingFlags,
): Promise<(report: ExpirationReport) => Promise<boolean>> {
  if (flags.within === undefined) return () => Promise.resolve(false)
  const {parseSpan} = await import('../bootstrap/durations.ts')
  const {within: time, output} = flags
  const span = parseSpan(time, '--within')
  return async (report) => {
    const {endingWithin} = await import('../control-plane/expiration.ts')
    const ending = endingWithin(report, span)
    if (ending.length > 0 && isForPeople(output)) {
      const {createProgress} = await import('./progress.ts')
      const names = [...new Set(ending.map(({name}) => name))].join(', ')
      createProgress(flags).warn(`these end within ${time}: ${names}`)
    }
    return ending.length > 0
  }
}

interface PlaneFlags extends EndingFlags {
  dir?: string | undefined
  'cert-dir'?: string | undefined
  'kubeconfig-dir'?: string | undefined
}

/** Tells people the commands that replace what has expired. kubeadm's CAs are not ours to rotate. */
export async function sayHowToRenew(flags: PlaneFlags, report: ExpirationReport): Promise<void> {
  if (!isForPeople(flags.output)) return
  const {createProgress} = await import('./progress.ts')
  const {clusterCommand} = await import('./same-cluster.ts')
  const {shellWord} = await import('../client/printable.ts')
  const folders = (['cert-dir', 'kubeconfig-dir'] as const).flatMap((name) =>
    flags[name] === undefined ? [] : [` --${name} ${shellWord(flags[name])}`],
  )
  const hasExpired = ({residualSeconds}: CertificateReport) => (residualSeconds ?? 0) < 0
  const {note} = createProgress(flags)
  // Others in the same file are only trusted, and no longer needed once they have expired.
  const signing = report.certificateAuthorities.filter(({signs}) => signs)
  if (folders.length === 0 && signing.some(hasExpired))
    note(`replace the CAs with "${clusterCommand(flags, 'ca rotate start')}"`)
  if (report.certificates.some(hasExpired))
    note(`renew them with "${clusterCommand(flags, `certificate renew all${folders.join('')}`)}"`)
}
