import * as Flags from '@oclif/core/flags'
import {atLeastOne, count, logPath, type Read} from '../control-plane/config/fields.ts'
import type {Choices} from '../control-plane/config/settings.ts'
import {readFlag} from './flag-value.ts'

/** kube-apiserver's names. */
export const auditFlags = {
  'audit-log-path': Flags.string({
    helpValue: '<file>',
    summary: 'where the audit log is written [default: logs/audit.log in --dir]',
  }),
  'audit-log-maxsize': Flags.string({
    helpValue: '<megabytes>',
    summary: 'how large a file of the audit log becomes before the next one [default: 10]',
  }),
  'audit-log-maxbackup': Flags.string({
    helpValue: '<count>',
    summary: 'how many full files of the audit log are kept; 0 keeps all [default: 9]',
  }),
  'audit-log-maxage': Flags.string({
    helpValue: '<days>',
    summary: 'how long full files of the audit log are kept; 0 sets no limit [default: 0]',
  }),
}

export type AuditFlagValues = Partial<Record<keyof typeof auditFlags, string | undefined>>

/** What was said on the command line, and nothing else. */
export function auditChoices(flags: AuditFlagValues): Choices {
  const said = <Value>(name: keyof AuditFlagValues, read: Read<Value>): Value | undefined =>
    flags[name] === undefined ? undefined : readFlag(name, flags[name], read)
  const choices = {
    auditLogPath: said('audit-log-path', logPath),
    auditLogMaxSize: said('audit-log-maxsize', atLeastOne),
    auditLogMaxBackup: said('audit-log-maxbackup', count),
    auditLogMaxAge: said('audit-log-maxage', count),
  }
  return Object.fromEntries(Object.entries(choices).filter(([, value]) => value !== undefined))
}
