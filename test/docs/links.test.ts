import assert from 'node:assert/strict'
import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {dirname, join} from 'node:path'

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync('docs').map((name) => `docs/${name}`),
].filter((path) => path.endsWith('.md'))

describe('the documentation', () => {
  for (const path of documents) {
    const text = readFileSync(path, 'utf8')

    it(`${path} links to files that are there`, () => {
      const targets = Array.from(
        text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g),
        ([, target = '']) => target,
      )
      const missing = targets.filter((target) => !existsSync(join(dirname(path), target)))
      assert.deepEqual(missing, [])
    })
  }

  it('names sources that are there', () => {
    const named = Array.from(
      documents
        .map((path) => readFileSync(path, 'utf8'))
        .join('\n')
        .matchAll(
          /`((?:api|authn|authz|bootstrap|cli|client|controllers|pki|registry|server|storage)\/[\w./-]*)`/g,
        ),
      ([, source = '']) => source,
    )
    const places = ['src', 'src/server']
    const missing = named.filter(
      (source) => !places.some((place) => existsSync(join(place, source))),
    )
    assert.deepEqual(missing, [])
  })
})
