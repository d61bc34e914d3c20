import assert from 'node:assert/strict'
import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {dirname, join} from 'node:path'

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync('docs').map((name) => `docs/${name}`),
].filter((path) => path.endsWith('.md'))

const CODE_BLOCK = /^```.*?^```$/gms
const read = (path: string): string => readFileSync(path, 'utf8')

/** The names under which GitHub links to the headings of a document. */
function anchorsOf(path: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of read(path)
    .replaceAll(CODE_BLOCK, '')
    .matchAll(/^#+ (.*)$/gm)) {
    const name = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    let anchor = name
    for (let again = 1; anchors.has(anchor); again += 1) anchor = `${name}-${again}`
    anchors.add(anchor)
  }
  return anchors
}

const TOP = readdirSync('.', {withFileTypes: true})
const SOURCES = readdirSync('src', {withFileTypes: true})
const foldersOf = (entries: typeof TOP): string[] =>
  entries
    .filter((entry) => entry.isDirectory() && /^[a-z]/.test(entry.name))
    .map(({name}) => name)
    .filter((name) => !['node_modules', 'dist', 'coverage'].includes(name))

describe('the documentation', () => {
  for (const path of documents) {
    it(`${path} links to files and headings that are there`, () => {
      const links = Array.from(read(path).matchAll(/\]\(([^)\s:]+)\)/g), ([, link = '']) => link)
      const missing = links.filter((link) => {
        const [file = '', anchor] = link.split('#')
        const target = file === '' ? path : join(dirname(path), file)
        if (!existsSync(target)) return true
        return anchor !== undefined && !anchorsOf(target).has(anchor)
      })
      assert.deepEqual(missing, [])
    })
  }

  for (const path of documents.filter((one) => one !== 'CHANGELOG.md')) {
    it(`${path} names files of the project that are there`, () => {
      // As `fs/files.ts` of src/ or `authn/` of src/server/, or with the whole path.
      const roots = [...foldersOf(TOP), ...foldersOf(SOURCES), 'authn', 'authz', 'registry']
      const name = new RegExp(`\`((?:${roots.join('|')})/[\\w./-]*)\``, 'g')
      const missing = Array.from(read(path).matchAll(name), ([, file = '']) => file).filter(
        (file) => !['.', 'src', 'src/server'].some((place) => existsSync(join(place, file))),
      )
      assert.deepEqual(missing, [])
    })
  }
})
