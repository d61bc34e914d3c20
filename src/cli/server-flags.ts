import * as Flags from '@oclif/core/flags'
import {
  atLeastOne,
  count,
  logPath,
  memoryMegabytes,
  storeBytes,
} from '../control-plane/config/fields.ts'
import {etcdPrefix, etcdServers, filePath} from '../control-plane/config/etcd.ts'
import type {Choices} from '../control-plane/config/settings.ts'
import {flagReader, given} from './flag-value.ts'

/** Where the objects of a cluster are kept, if not in the folder of one machine. The names are kube-apiserver's. */
export const etcdFlags = {
  'etcd-servers': Flags.string({
    helpValue: '<urls>',
    summary:
      'addresses of the members of an etcd cluster, separated by commas, to store everything there instead of in --dir',
  }),
  'etcd-cafile': Flags.string({
    helpValue: '<file>',
    summary: 'the CA of the etcd servers [default: those of the system]',
  }),
  'etcd-certfile': Flags.string({
    helpValue: '<file>',
    summary: 'the client certificate for etcd',
  }),
  'etcd-keyfile': Flags.string({
    helpValue: '<file>',
    summary: 'the key of --etcd-certfile',
  }),
  'etcd-prefix': Flags.string({
    helpValue: '<prefix>',
    summary: 'what the keys of this cluster in etcd start with [default: /trustadm]',
  }),
}

export type EtcdFlagValues = Partial<Record<keyof typeof etcdFlags, string | undefined>>

/** Settings that "init" stores and "serve" can override for one run. The names are those of kube-apiserver and etcd. */
export const serverFlags = {
  'audit-log-path': Flags.string({
    helpValue: '<file>',
    summary: 'the file of the audit log [default: logs/audit.log in --dir]',
  }),
  'audit-log-maxsize': Flags.string({
    helpValue: '<megabytes>',
    summary: 'maximum size in megabytes of an audit log file before it is rotated [default: 10]',
  }),
  'audit-log-maxbackup': Flags.string({
    helpValue: '<count>',
    summary: 'maximum number of rotated audit log files to keep; 0 keeps all [default: 9]',
  }),
  'audit-log-maxage': Flags.string({
    helpValue: '<days>',
    summary: 'maximum number of days to keep rotated audit log files; 0 sets no limit [default: 0]',
  }),
  'quota-backend-bytes': Flags.string({
    helpValue: '<bytes>',
    summary: 'maximum size in bytes of all stored objects [default: 536870912]',
  }),
  'target-ram-mb': Flags.string({
    helpValue: '<megabytes>',
    summary:
      'memory for connections, watches, requests and responses, apart from stored objects [default: 400]',
  }),
  ...etcdFlags,
  'certificate-requests-per-hour': Flags.string({
    helpValue: '<number>',
    summary:
      'maximum number of certificate requests an hour from one requester, such as a bootstrap token [default: 2500]',
  }),
}

export type ServerFlagValues = Partial<Record<keyof typeof serverFlags, string | undefined>>

/** Only what was given on the command line. */
export function serverChoices(flags: ServerFlagValues): Choices {
  const said = flagReader(flags)
  return given({
    auditLogPath: said('audit-log-path', logPath),
    auditLogMaxSize: said('audit-log-maxsize', atLeastOne),
    auditLogMaxBackup: said('audit-log-maxbackup', count),
    auditLogMaxAge: said('audit-log-maxage', count),
    quotaBackendBytes: said('quota-backend-bytes', storeBytes),
    targetRamMb: said('target-ram-mb', memoryMegabytes),
    etcdServers: said('etcd-servers', etcdServers),
    etcdCaFile: said('etcd-cafile', filePath),
    etcdCertFile: said('etcd-certfile', filePath),
    etcdKeyFile: said('etcd-keyfile', filePath),
    etcdPrefix: said('etcd-prefix', etcdPrefix),
    certificateRequestsPerHour: said('certificate-requests-per-hour', atLeastOne),
  })
}
