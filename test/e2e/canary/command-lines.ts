import {join} from 'node:path'
import {MALFORMED, SECRETS, TOKEN, TOKEN_ID, UNKNOWN, type Place} from './place.ts'
import type {Secret} from './secrets.ts'

/** One run of the program. */
export interface Line {
  args: string[]
  input?: string
  env?: Record<string, string>
  /** It has to get to its end, for its outputs to be worth something. */
  succeeds?: true
  /** It runs until it is stopped, which happens after its first line on the standard output. */
  lasts?: true
  /** What it is there to print, on the standard output and nowhere else. */
  prints?: Secret[]
}

const FROM_ENVIRONMENT = {TRUSTADM_TOKEN: TOKEN}
const PRINTS_TOKEN = {prints: [SECRETS.token]}
const {certificateKey} = SECRETS

/** A folder for each machine that joins. */
const machine = (place: Place, name: string): string[] => [
  '--dir',
  join(place.folder, name),
  '--node-name',
  name,
]

/** Kubeconfigs with secrets that do not let anybody in. */
const withStrangeConfigs = (place: Place, ...args: string[]): Line[] =>
  [place.bearerConfig, place.passwordConfig, place.brokenConfig].map((file) => ({
    args: [...args, '--kubeconfig', file],
  }))

/** A backup with another passphrase, and files that are none. */
const readsBackup = (place: Place, ...args: string[]): Line[] => [
  {args: [place.backup, '--passphrase-file', place.malformedFile, ...args]},
  {args: [place.backup, '--passphrase-file', TOKEN, ...args]},
  ...[place.brokenKey, place.bearerConfig].map((file) => ({args: [file, ...args]})),
]

/**
 * Every command of the program, with secrets in all the places where it takes one in. A name is no such place: what a command does
 * not find it names, and the server's audit names what was asked for.
 */
export const COMMAND_LINES: Record<string, (place: Place) => Line[]> = {
  init: ({dir, tokenFile, malformedFile, malformedInit}) => [
    {args: ['--dir', dir, '--token', TOKEN], ...PRINTS_TOKEN, succeeds: true},
    {args: ['--dir', dir, '--token', TOKEN, '--skip-token-print'], succeeds: true},
    {args: ['--dir', dir, '--token-file', tokenFile, '--dry-run'], succeeds: true},
    {args: ['--dir', dir, '--skip-token-print'], env: FROM_ENVIRONMENT, succeeds: true},
    {args: ['--dir', dir, '--token', MALFORMED]},
    {args: ['--dir', dir, '--token', '-'], input: MALFORMED},
    {args: ['--dir', dir, '--token-file', malformedFile]},
    {args: ['--dir', dir, '--config', malformedInit]},
    {args: ['--dir', dir], env: {TRUSTADM_TOKEN: MALFORMED}},
  ],
  'init:phase': ({dir, malformedFile}) => [
    {args: ['bootstrap-token', '--dir', dir, '--token', TOKEN], ...PRINTS_TOKEN, succeeds: true},
    {
      args: ['bootstrap-token', '--dir', dir, '--skip-token-print'],
      env: FROM_ENVIRONMENT,
      succeeds: true,
    },
    {args: ['bootstrap-token', '--dir', dir, '--token-file', malformedFile]},
    {args: [TOKEN, '--dir', dir]},
    {args: ['certs', TOKEN, '--dir', dir]},
  ],
  join: (place) => {
    const {endpoint, tokenFile, malformedFile, bearerConfig, brokenConfig, joinConfig} = place
    const skip = '--discovery-token-unsafe-skip-ca-verification'
    const to = (name: string, ...more: string[]) => [
      endpoint,
      ...machine(place, name),
      skip,
      ...more,
    ]
    const file = (document: string) => ['--discovery-file', document, '--token', TOKEN]
    return [
      {args: to('by-flag', '--token', TOKEN), succeeds: true},
      {args: to('by-file', '--token-file', tokenFile), succeeds: true},
      ...[bearerConfig, place.passwordConfig, brokenConfig].map((config) => ({
        args: [...machine(place, 'by-kubeconfig'), '--bootstrap-kubeconfig', config],
      })),
      {args: to('by-input', '--token', '-'), input: TOKEN, succeeds: true},
      {args: to('by-environment'), env: FROM_ENVIRONMENT, succeeds: true},
      {args: ['--config', joinConfig, ...machine(place, 'by-config')], succeeds: true},
      {args: to('for-kubelet', '--token', TOKEN, '--for-kubelet'), succeeds: true},
      {args: to('dry', '--token', TOKEN, '--dry-run')},
      {args: to('unknown', '--token', UNKNOWN, '--timeout', '1s')},
      {args: to('two', '--discovery-token', TOKEN, '--tls-bootstrap-token', UNKNOWN)},
      {args: to('malformed', '--token', MALFORMED)},
      {args: to('malformed', '--token-file', malformedFile)},
      {args: to('malformed', '--token-file', TOKEN)},
      {args: to('malformed', '--token-file', MALFORMED)},
      {args: [...file(MALFORMED), ...machine(place, 'filed')]},
      {args: ['--config', TOKEN, ...machine(place, 'filed')]},
      {args: to('malformed', '--tls-bootstrap-token', '-', '--token', TOKEN), input: MALFORMED},
      {args: ['127.0.0.1:1', ...machine(place, 'away'), skip, '--token', TOKEN, '--timeout', '1s']},
      {args: [...file(bearerConfig), ...machine(place, 'filed')]},
      {args: [...file(brokenConfig), ...machine(place, 'filed')]},
      {args: [...file('-'), ...machine(place, 'filed')], input: SECRETS.bearer.value.toString()},
      {args: [MALFORMED, ...machine(place, 'misplaced'), '--timeout', '1s']},
      {
        args: to(
          'control-plane',
          '--token',
          TOKEN,
          '--control-plane',
          '--certificate-key',
          certificateKey.value.toString(),
        ),
      },
    ]
  },
  'join:phase': (place) => {
    const skip = '--discovery-token-unsafe-skip-ca-verification'
    const own = machine(place, 'phased')
    return [
      {args: ['discovery', place.endpoint, ...own, skip, '--token', TOKEN], succeeds: true},
      {args: ['tls-bootstrap', ...own, '--token-file', place.tokenFile], succeeds: true},
      {args: ['tls-bootstrap', ...own, '--tls-bootstrap-token', MALFORMED]},
      {args: [TOKEN, ...own]},
    ]
  },
  serve: ({dir, brokenKey}) => [
    {args: ['--dir', dir]},
    {
      args: [
        '--dir',
        dir,
        '--cluster-signing-cert-file',
        join(dir, 'pki', 'ca.crt'),
        '--cluster-signing-key-file',
        brokenKey,
      ],
    },
  ],
  controllers: (place) => {
    const {dir, kubeconfig, brokenKey, folder} = place
    const sign = ['--controllers', 'csr-signer', '--issuance-log', join(folder, 'issuance.log')]
    const ca = ['--cluster-signing-cert-file', join(dir, 'pki', 'ca.crt')]
    return [
      {args: ['--kubeconfig', kubeconfig, '--controllers', 'token-cleaner'], lasts: true},
      {args: ['--kubeconfig', kubeconfig, ...sign, ...ca, '--cluster-signing-key-file', brokenKey]},
      ...withStrangeConfigs(place, '--controllers', 'token-cleaner').map((line): Line => ({
        ...line,
        lasts: true,
      })),
    ]
  },
  // The other commands need the server all the time: it is neither stopped nor replaced.
  start: ({dir}) => [{args: ['--dir', dir], succeeds: true}],
  stop: ({folder}) => [{args: ['--dir', join(folder, 'none')]}],
  restart: ({folder}) => [{args: ['--dir', join(folder, 'none')]}],
  backup: ({dir, folder, tokenFile, brokenKey}) => [
    {
      args: [join(folder, 'second.backup'), '--passphrase-file', tokenFile, '--dir', dir],
      succeeds: true,
    },
    {
      args: [join(folder, 'objects.backup'), '--objects-only', '--dir', dir],
      succeeds: true,
    },
    {args: [brokenKey, '--dir', dir]},
    {args: [join(folder, 'third.backup'), '--passphrase-file', TOKEN, '--dir', dir]},
  ],
  restore: (place) => [
    {
      args: [place.backup, '--passphrase-file', place.tokenFile, '--dry-run'],
      succeeds: true,
    },
    ...readsBackup(place, '--dir', join(place.folder, 'restored')),
    {
      args: [
        ...[place.backup, '--passphrase-file', place.tokenFile, '--dir', place.dir],
        ...['--objects-only', '--to', 'etcd', '--etcd-certfile', TOKEN],
        ...['--etcd-servers', 'https://127.0.0.1:1'],
      ],
    },
  ],
  status: ({dir}) => [{args: ['--dir', dir], succeeds: true}],
  reset: ({dir}) => [{args: ['--dir', dir, '--dry-run'], succeeds: true}],
  'node:leave': (place) => {
    const {folder, endpoint, tokenFile} = place
    const dir = join(folder, 'leaving')
    return [
      {args: ['--dir', dir, '--dry-run']},
      {args: ['--dir', folder, '--yes']},
      ...withStrangeConfigs(place, '--dir', dir, '--yes'),
      {args: ['--dir', dir, endpoint, tokenFile]},
    ]
  },
  'node:run': (place) => [
    {args: ['--dir', join(place.folder, 'by-environment')], lasts: true},
    {args: ['--dir', join(place.folder, 'none'), '--once', '--rotate-at', MALFORMED]},
    ...[place.bearerConfig, place.passwordConfig, place.brokenConfig].map((config) => ({
      args: ['--dir', join(place.folder, 'new'), '--once', '--bootstrap-kubeconfig', config],
    })),
  ],
  'node:renew': ({folder}) => [
    {args: ['--dir', join(folder, 'by-config')]},
    {args: ['--dir', join(folder, 'none')]},
    {args: [TOKEN, '--dir', folder]},
  ],
  'node:status': ({folder}) => [
    {args: ['--dir', join(folder, 'by-input')]},
    {args: ['--dir', join(folder, 'none')]},
  ],
  'node:list': (place) => [
    {args: ['--dir', place.dir], succeeds: true},
    ...withStrangeConfigs(place),
  ],
  'node:history': (place) => [
    {args: ['by-flag', '--dir', place.dir]},
    ...withStrangeConfigs(place, 'by-flag'),
  ],
  'ca:list': ({dir, folder}) => [
    {args: ['--dir', dir], succeeds: true},
    {args: ['--dir', join(folder, 'none')]},
  ],
  'ca:show': ({dir}) => [
    {args: ['ca', '--dir', dir], succeeds: true},
    {args: [TOKEN, '--dir', dir]},
  ],
  'ca:add': ({dir, brokenKey, bearerConfig}) => [
    {args: ['canary-ca', '--dir', dir]},
    {args: ['other-ca', '--certificate', brokenKey, '--dir', dir]},
    {
      args: [
        'other-ca',
        '--certificate',
        join(dir, 'pki', 'ca.crt'),
        '--key',
        bearerConfig,
        '--dir',
        dir,
      ],
    },
    {args: [TOKEN, '--dir', dir]},
  ],
  'ca:remove': ({dir}) => [{args: ['nothing', '--yes', '--dir', dir]}],
  'ca:rotate:status': ({dir, folder}) => [
    {args: ['--dir', dir], succeeds: true},
    {args: ['--dir', join(folder, 'none')]},
  ],
  'ca:rotate:start': ({dir}) => [
    {args: ['--dir', dir, '--dry-run'], succeeds: true},
    {args: ['--dir', dir, '--only', TOKEN, '--yes']},
  ],
  'ca:rotate:complete': ({dir}) => [{args: ['--dir', dir, '--yes', '--ignore', 'replaced-here']}],
  'ca:rotate:abort': ({dir}) => [{args: ['--dir', dir, '--yes']}],
  'machine:create': (place) => [
    {
      args: ['canary', '--dns', 'canary.example.com', '--dry-run', '--dir', place.dir],
      succeeds: true,
    },
    {args: ['-f', '-', '--dir', place.dir], input: `{token: ${TOKEN}, {{`},
    {args: ['-f', place.bearerConfig, '--dir', place.dir]},
    {args: ['-f', place.brokenKey, '--dir', place.dir]},
    ...withStrangeConfigs(place, 'canary'),
  ],
  'machine:list': (place) => [
    {args: ['--dir', place.dir], succeeds: true},
    ...withStrangeConfigs(place),
  ],
  'machine:delete': (place) => [
    {args: ['nothing', '--yes', '--dir', place.dir]},
    ...withStrangeConfigs(place, 'canary', '--yes'),
  ],
  'machine:renew': (place) => [
    {args: ['nothing', '--dir', place.dir]},
    ...withStrangeConfigs(place, 'canary'),
  ],
  'bootstrap-credential:create': (place) => [
    {args: ['--out', join(place.folder, 'fleet.conf'), '--dir', place.dir]},
    {args: ['--kind', 'token', '--out', join(place.folder, 'token.conf'), '--dir', place.dir]},
    {args: ['--kind', TOKEN, '--dir', place.dir]},
    ...withStrangeConfigs(place, '--out', join(place.folder, 'other.conf')),
  ],
  'bootstrap-credential:list': (place) => [
    {args: ['--dir', place.dir], succeeds: true},
    ...withStrangeConfigs(place),
  ],
  'bootstrap-credential:show': (place) => [
    {args: ['000000000000', '--dir', place.dir]},
    ...withStrangeConfigs(place, '000000000000'),
  ],
  'bootstrap-credential:revoke': (place) => [
    {args: ['000000000000', '--yes', '--dir', place.dir]},
    ...withStrangeConfigs(place, '000000000000', '--yes'),
  ],
  'bootstrap-credential:unrevoke': (place) => [
    {args: ['000000000000', '--dir', place.dir]},
    ...withStrangeConfigs(place, '000000000000'),
  ],
  'token:show': (place) => [
    {args: [TOKEN_ID, '--dir', place.dir], succeeds: true},
    {args: [MALFORMED, '--dir', place.dir]},
    {args: [UNKNOWN, '--dir', place.dir]},
    ...withStrangeConfigs(place, TOKEN),
  ],
  'token:create': (place) => [
    {args: [TOKEN, '--dir', place.dir]},
    {args: ['--token-file', place.tokenFile, '--dir', place.dir]},
    {
      args: ['-', '--dir', place.dir, '--dry-run'],
      input: `kanar2.${UNKNOWN.slice(7)}`,
      ...PRINTS_TOKEN,
    },
    {args: ['--dir', place.dir], env: FROM_ENVIRONMENT},
    {args: [MALFORMED, '--dir', place.dir]},
    {args: [TOKEN.replace('.', ':'), '--dir', place.dir]},
    {args: ['--token-file', place.malformedFile, '--dir', place.dir]},
    {args: ['--config', place.malformedInit, '--dir', place.dir]},
    {args: ['--description', 'x', '--ttl', MALFORMED, '--dir', place.dir]},
    ...withStrangeConfigs(place, TOKEN),
  ],
  'token:list': (place) => [
    {args: ['--dir', place.dir], ...PRINTS_TOKEN, succeeds: true},
    {args: [TOKEN, '--dir', place.dir]},
    ...withStrangeConfigs(place),
  ],
  'token:delete': (place) => [
    {args: [UNKNOWN, '--dir', place.dir]},
    {args: [MALFORMED, '--dir', place.dir]},
    {args: [TOKEN, '--dir', place.dir, '--dry-run'], succeeds: true},
    {args: [`${TOKEN_ID}.${'0'.repeat(16)}`, '--dir', place.dir, '--dry-run']},
    ...withStrangeConfigs(place, TOKEN),
  ],
  'token:generate': () => [{args: [], succeeds: true}, {args: [TOKEN]}],
  'certificate:list': (place) => [
    {args: ['--dir', place.dir], succeeds: true},
    {args: ['--dir', place.dir, '--requester', TOKEN], succeeds: true},
    ...withStrangeConfigs(place),
  ],
  'certificate:show': (place) => [
    {args: ['some', '--dir', place.dir]},
    ...withStrangeConfigs(place, 'some'),
  ],
  'certificate:approve': (place) => [
    {args: ['-f', '-', '--dir', place.dir], input: `{token: ${TOKEN}, {{`},
    {args: ['-f', place.bearerConfig, '--dir', place.dir]},
    ...withStrangeConfigs(place, 'some'),
  ],
  'certificate:deny': (place) => [
    {args: ['-f', '-', '--dir', place.dir], input: `{token: ${TOKEN}, {{`},
    {args: ['-f', place.brokenKey, '--dir', place.dir]},
    ...withStrangeConfigs(place, 'some'),
  ],
  'certificate:review': (place) => [
    {args: ['--dir', place.dir], input: TOKEN},
    ...withStrangeConfigs(place),
  ],
  'certificate:request': (place) => {
    const out = ['--out', join(place.folder, 'requested')]
    return [
      {args: ['--user', 'ada', '--no-wait', ...out, '--dir', place.dir], succeeds: true},
      {args: ['--user', 'eve', '--key', place.brokenKey, ...out, '--dir', place.dir]},
      {args: ['--user', 'eve', '--key', place.tokenFile, ...out, '--dir', place.dir]},
      ...withStrangeConfigs(place, '--user', 'eve', '--no-wait', ...out),
    ]
  },
  'certificate:download': (place) => [
    {args: ['some', '--dir', place.dir]},
    ...withStrangeConfigs(place, 'some'),
  ],
  'certificate:allow-rejoin': (place) => [
    {args: ['by-flag', '--requester', 'ada', '--dir', place.dir], succeeds: true},
    {args: ['by-flag', '--dir', place.dir, '--ttl', MALFORMED]},
    {args: ['by-flag', '--dir', place.dir, '--pin', MALFORMED]},
    {args: ['by-flag', '--kubeconfig', TOKEN]},
    ...withStrangeConfigs(place, 'by-flag'),
  ],
  'certificate:revoke': (place) => [
    {args: ['some', '--yes', '--dir', place.dir]},
    {args: ['--file', place.bearerConfig, '--yes', '--dir', place.dir]},
    {args: ['--file', place.brokenKey, '--yes', '--dir', place.dir]},
    {args: ['--pin', MALFORMED, '--yes', '--dir', place.dir]},
    ...withStrangeConfigs(place, 'some', '--yes'),
  ],
  'certificate:unrevoke': (place) => [
    {args: ['--pin', MALFORMED, '--dir', place.dir]},
    ...withStrangeConfigs(place, 'some'),
  ],
  'certificate:simulate': (place) => [
    {args: ['--node', 'canary', '--token-id', TOKEN_ID, '--dir', place.dir]},
    {args: ['--node', 'canary', '--token-id', TOKEN, '--dir', place.dir]},
    ...withStrangeConfigs(place, '--node', 'canary'),
  ],
  'certificate:log': ({dir, tokenFile, brokenKey}) => [
    {args: ['--dir', dir], succeeds: true},
    {args: ['--dir', dir, '--verify'], succeeds: true},
    {args: ['--dir', dir, '--heads'], succeeds: true},
    {args: ['--file', tokenFile, '--verify']},
    {args: [tokenFile, brokenKey, '--verify']},
    {args: [tokenFile, brokenKey, '--heads']},
    {args: ['--file', brokenKey]},
    {args: ['--dir', dir, '--head', TOKEN]},
  ],
  'certificate:check-expiration': ({dir}) => [{args: ['--dir', dir], succeeds: true}],
  'certificate:certificate-key': () => [{args: [], succeeds: true}, {args: [TOKEN]}],
  'certificate:renew': ({dir}) => [{args: ['admin.conf', '--dir', dir], succeeds: true}],
  'kubeconfig:user': ({dir, tokenFile, bearerConfig}) => [
    {args: ['--client-name', 'ada', '--dir', dir], succeeds: true},
    {
      args: ['--client-name', 'ada', '--token-file', tokenFile, '--dir', dir],
      ...PRINTS_TOKEN,
      succeeds: true,
    },
    {args: ['--client-name', 'ada', '--token-file', bearerConfig, '--dir', dir]},
  ],
  autocomplete: () => [{args: ['bash'], succeeds: true}, {args: [TOKEN]}],
  version: () => [{args: [], succeeds: true}, {args: [TOKEN]}],
}

/** What nobody means to type: a secret where the command takes none. */
export const MISTAKES: Line[] = [{args: [`--tokn=${TOKEN}`]}, {args: [`-z${TOKEN}`, MALFORMED]}]
