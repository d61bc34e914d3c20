import {TrustError} from '../../src/errors.ts'
import {replaceFiles} from '../../src/fs/file-groups.ts'
import {writeFileSafely} from '../../src/fs/files.ts'
import {join} from 'node:path'

/** Writes more than it may, and prints the codes that it fails with. Its argument: the folder to write to. */
const folder = process.argv[2] ?? ''
const large = 'x'.repeat(1024 * 1024)

const codeOf = (error: unknown) => (error instanceof TrustError ? error.code : String(error))
const codes = [
  await writeFileSafely(join(folder, 'file'), large).then(() => 'written', codeOf),
  await replaceFiles(folder, 'pair', [
    {name: 'pair.key', data: 'new'},
    {name: 'pair.crt', data: large},
  ]).then(() => 'written', codeOf),
]
process.stdout.write(codes.join())
