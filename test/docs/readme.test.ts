import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'

const file = (name: string) => readFile(new URL(`../../${name}`, import.meta.url), 'utf8')

describe('the README', () => {
  it('installs the program before it uses its name, and joins machines before it runs tests', async () => {
    const readme = await file('README.md')
    const at = (text: string | RegExp) => {
      const found = readme.search(text)
      assert.notEqual(found, -1, String(text))
      return found
    }
    assert.ok(at(/^npm install -g \.$/m) < at(/\btrustadm [a-z]/))
    assert.ok(at(/^trustadm join /m) < at(/npm test/))
  })

  it('stands beside the license that the package names', async () => {
    const {license} = JSON.parse(await file('package.json')) as {license: string}
    assert.equal(license, 'Apache-2.0')
    assert.match(await file('LICENSE'), /Apache License\s+Version 2\.0/)
  })
})
