import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'

const read = async <Value>(name: string): Promise<Value> =>
  JSON.parse(await readFile(new URL(`../../${name}`, import.meta.url), 'utf8')) as Value

describe('package.json', () => {
  it('allows the install scripts of dependencies by name, so that npm ci does not warn of any', async () => {
    const {allowScripts} = await read<{allowScripts: Record<string, boolean>}>('package.json')
    const {packages} = await read<{
      packages: Record<string, {hasInstallScript?: boolean; dev?: boolean}>
    }>('package-lock.json')
    const scripted = Object.entries(packages)
      .filter(([path, {hasInstallScript}]) => path !== '' && hasInstallScript)
      .map(([path]) => path.replace(/^.*node_modules\//, ''))
    const unnamed = scripted.filter((name) => allowScripts[name] !== true)
    // Only on macOS, where it is optional and has nothing to build.
    assert.deepEqual(
      [...new Set(unnamed)],
      ['fsevents'].filter((name) => unnamed.includes(name)),
    )
    assert.deepEqual(
      Object.keys(allowScripts).filter((name) => !scripted.includes(name)),
      [],
    )
  })
})
