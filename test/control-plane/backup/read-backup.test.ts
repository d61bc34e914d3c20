import assert from 'node:assert/strict'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {readBackup} from '../../../src/control-plane/backup/read-backup.ts'
import {encodeEntries} from '../../../src/storage/snapshot.ts'
import {
  ArchiveWriter,
  type ArchiveEnd,
  type ArchiveHeader,
} from '../../../src/storage/archive-frames.ts'

const HEADER = {
  kind: 'everything',
  createdAt: '2026-01-01T00:00:00.000Z',
  program: '1',
  revision: 7,
} as const

type Frames = ['file' | 'data' | 'entries' | 'failure', unknown][]

describe('readBackup', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-backup-'))
  })
  after(() => rm(folder, {recursive: true}))

  /** An archive with a right checksum: only its content can be wrong. */
  async function archive(
    frames: Frames,
    header: Partial<ArchiveHeader> = {},
    counts: Partial<ArchiveEnd> = {},
  ): Promise<string> {
    const chunks: Uint8Array[] = []
    const writer = new ArchiveWriter((bytes) => Promise.resolve(void chunks.push(bytes)))
    await writer.begin({...HEADER, ...header})
    for (const [type, content] of frames) {
      const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content))
      await writer.frame(type, bytes)
    }
    const count = (wanted: string) => frames.filter(([type]) => type === wanted).length
    await writer.end({keys: 0, files: count('file'), ...counts})
    const path = join(folder, 'one')
    await writeFile(path, Buffer.concat(chunks))
    return path
  }

  const config: Frames = [
    ['file', {name: 'config.yaml', size: 2}],
    ['data', Buffer.from('a\n')],
  ]

  it('takes the files of a control plane', async () => {
    const names = [
      'manifest.json',
      'admin.conf',
      'pki/ca.crt',
      'pki/etcd/ca.key',
      'logs/issuance.log',
    ]
    const more = names.map((name): Frames[number] => ['file', {name, size: 0}])
    const {end, header} = await readBackup(await archive([...config, ...more]), undefined)
    assert.deepEqual([end.files, header.revision], [6, 7])
  })

  const REFUSED: [what: string, frames: Frames][] = [
    ...[
      '../config.yaml',
      '/etc/passwd',
      'pki/../../x',
      'pki/./x',
      'pki//x',
      'pki/.hidden',
      'pki',
      'pki/',
      'pki\\..\\x',
      'pki/a\0b',
      '.conf',
      'sub/admin.conf',
      'store/data.mdb',
      'lock/lock.1',
      'constructor',
      'server.json',
      `pki/${'x'.repeat(2000)}`,
    ].map((name): [string, Frames] => [
      `the name ${JSON.stringify(name).slice(0, 30)}`,
      [['file', {name, size: 0}]],
    ]),
    ['a file that is too large', [['file', {name: 'pki/ca.crt', size: 2 ** 20 + 1}]]],
    ['a negative size', [['file', {name: 'pki/ca.crt', size: -1}]]],
    ['a file without a name', [['file', {size: 1}]]],
    ['a file twice', config],
    [
      'more bytes than announced',
      [
        ['file', {name: 'pki/ca.crt', size: 1}],
        ['data', Buffer.from('ab')],
      ],
    ],
    [
      'fewer bytes than announced',
      [
        ['file', {name: 'pki/ca.crt', size: 3}],
        ['data', Buffer.from('ab')],
      ],
    ],
    ['bytes without a file', [['data', Buffer.from('ab')]]],
    ['a record that is cut off', [['entries', Buffer.from('ab')]]],
    ['a record that was altered', [['entries', Buffer.alloc(40)]]],
  ]
  for (const [what, frames] of REFUSED) {
    it(`refuses ${what}`, async () => {
      const path = await archive([...config, ...frames])
      await assert.rejects(readBackup(path, undefined), {code: 'BACKUP_INVALID'})
    })
  }

  it('refuses a control plane without config.yaml', async () => {
    await assert.rejects(readBackup(await archive([]), undefined), {code: 'BACKUP_INVALID'})
  })

  it('refuses other counts than its own, and files in one of objects only', async () => {
    const refused = {code: 'BACKUP_INVALID'}
    await assert.rejects(readBackup(await archive(config, {}, {files: 2}), undefined), refused)
    await assert.rejects(readBackup(await archive(config, {}, {keys: 1}), undefined), refused)
    const path = await archive(config, {kind: 'objects-only'})
    await assert.rejects(readBackup(path, undefined), refused)
    const {end} = await readBackup(await archive([], {kind: 'objects-only'}), undefined)
    assert.deepEqual([end.keys, end.files], [0, 0])
  })

  it('refuses a header that cannot be one', async () => {
    const wrong: object[] = [
      {revision: -1},
      {revision: Number.MAX_SAFE_INTEGER},
      {createdAt: '\u001b[2J'},
      {program: 'two\nlines'},
      {program: 'x'.repeat(1_000)},
      {store: 'other'},
      {dir: 5},
      {certificatesDir: 'pki'},
    ]
    for (const header of wrong) {
      await assert.rejects(
        readBackup(await archive(config, header), undefined),
        {code: 'BACKUP_INVALID', message: /its header is not one of an archive$/},
        JSON.stringify(header),
      )
    }
  })

  it('shows the start of what a server says that could not go on', async () => {
    const path = await archive([['failure', Buffer.from(`full${'!'.repeat(100_000)}`)]])
    await assert.rejects(readBackup(path, undefined), ({message}: Error) => {
      assert.match(message, /^the server cannot send its objects: full!+$/)
      return message.length < 1_100
    })
  })

  it('refuses objects that are not in the order of their keys', async () => {
    const record = (key: string) => ({key, created: 1, revision: 1, value: Buffer.from('1')})
    const entries = (...keys: string[]): Frames => [['entries', encodeEntries(keys.map(record))]]
    const path = await archive([...config, ...entries('/a', '/b')], {}, {keys: 2})
    assert.equal((await readBackup(path, undefined)).end.keys, 2)
    for (const keys of [
      ['/b', '/a'],
      ['/a', '/a'],
    ]) {
      const wrong = await archive([...config, ...entries(...keys)], {}, {keys: 2})
      await assert.rejects(readBackup(wrong, undefined), {
        code: 'BACKUP_INVALID',
        message: /the key "\/a" is not in its place$/,
      })
    }
  })

  it('refuses a newer format and an earlier one, and says so', async () => {
    const newer = await archive(config, {version: 3})
    await assert.rejects(readBackup(newer, undefined), {code: 'BACKUP_NEWER'})
    const older = await archive(config, {version: 1})
    await assert.rejects(readBackup(older, undefined), {
      code: 'BACKUP_INVALID',
      message: /an earlier trustadm wrote this backup/,
    })
  })

  it('refuses a plain archive if a passphrase is given: it proves nothing', async () => {
    const path = await archive(config)
    await assert.rejects(readBackup(path, Buffer.from('correct horse battery')), {
      code: 'BACKUP_INVALID',
      message: `${path} is not encrypted, though a passphrase was given`,
    })
  })

  it('refuses what is no archive, and no file', async () => {
    const path = join(folder, 'text')
    await writeFile(path, 'kind: Config\n')
    await assert.rejects(readBackup(path, undefined), {code: 'BACKUP_INVALID'})
    await assert.rejects(readBackup(folder, undefined), {code: 'FILE_UNSAFE'})
    await assert.rejects(readBackup(join(folder, 'none'), undefined), {code: 'FILE_UNREADABLE'})
  })
})
