import assert from 'node:assert/strict'
import {readCsv, readInventory} from '../../../src/control-plane/machines/inventory.ts'

const read = (text: string) => readInventory(text, 'inventory')

describe('readInventory', () => {
  const ROWS = [
    {
      machine: {
        name: 'w1',
        namespace: 'fleet',
        dns: ['w1', 'w1.example.com'],
        addresses: ['10.0.0.1', 'fd00::1'],
        providerID: 'aws:///i-1',
      },
      where: 'line 2',
    },
    {machine: {name: 'w2', namespace: 'kube-system', dns: ['w2'], addresses: []}, where: 'line 3'},
  ]

  it('reads CSV; several names are separated by blanks or semicolons', () => {
    const {rows, problems} = read(
      'name,namespace,dns,addresses,providerID\nw1,fleet,w1 w1.example.com,10.0.0.1;fd00::1,aws:///i-1\nw2\n',
    )
    assert.deepEqual({rows, problems}, {rows: ROWS, problems: []})
  })

  it('reads YAML', () => {
    const {rows, problems} = read(
      `machines:
  - {name: w1, namespace: fleet, dns: [w1, w1.example.com], addresses: [10.0.0.1, "fd00::1"], providerID: "aws:///i-1"}
  - name: w2
`,
    )
    assert.deepEqual({rows, problems}, {rows: ROWS, problems: []})
  })

  it('reads JSON, and a list without a map around it', () => {
    assert.deepEqual(read('[{"name": "w2"}]').rows, [{...ROWS[1], where: 'line 1'}])
  })

  const refusals: [string, string, string[]][] = [
    ['nothing', '', ['line 1: it is not a list of machines, nor a map with one']],
    ['an empty list', '[]', ['it names no machine']],
    ['a table without rows', 'name,dns\n', ['it names no machine']],
    [
      'an unknown column',
      'name,colour\nw1,red',
      [
        'line 1: unknown field "colour"; the fields are name, namespace, dns, addresses, providerID',
      ],
    ],
    ['too many cells', 'name,dns\nw1\nw2,a,b', ['line 3: it has 3 cells, and the first line 2']],
    [
      'what is missing or of another type, in each of several machines',
      '- dns: [a]\n- name: 5\n- name: w\n  dns: [1]\n- w4\n- name: w5\n  hostname: x',
      [
        'line 1: name is missing',
        'line 2: name is not a text',
        'line 3: dns is not a text',
        'line 5: it is not a machine: the fields are name, namespace, dns, addresses, providerID',
        'line 6: unknown field "hostname"; the fields are name, namespace, dns, addresses, providerID',
      ],
    ],
    ['what is not YAML', 'machines: [', ['line 1: it is not YAML (bad indent)']],
    [
      'aliases',
      '- &a {name: w1}\n- *a\n- name: &b w2\n  dns: [*b]',
      [
        'line 2: it is not a machine: the fields are name, namespace, dns, addresses, providerID',
        'line 3: it has aliases, which an inventory may not have',
      ],
    ],
    [
      'more machines than anyone means',
      `name\n${'w\n'.repeat(10_001)}`,
      ['it has more than 10000 machines'],
    ],
  ]
  for (const [name, text, problems] of refusals) {
    it(`names every problem of ${name}`, () => {
      assert.deepEqual(read(text).problems, problems)
    })
  }
})

describe('readCsv', () => {
  it('reads cells with and without quotes, and the line that each record begins in', () => {
    const text = 'name,dns\r\n"a ""b""",c d\n\n# a comment, with a comma\n"two\nlines",x\nlast,'
    assert.deepEqual(readCsv(text).records, [
      {line: 1, cells: ['name', 'dns']},
      {line: 2, cells: ['a "b"', 'c d']},
      {line: 5, cells: ['two\nlines', 'x']},
      {line: 7, cells: ['last', '']},
    ])
  })

  it('takes no notice of a byte order mark', () => {
    assert.deepEqual(readCsv('\ufeffname\na').records[0]?.cells, ['name'])
  })

  for (const text of ['name\n"a', 'name\n"a"b,c', 'name\na"b']) {
    it(`says in which line a quote is wrong: ${JSON.stringify(text)}`, () => {
      assert.deepEqual(readCsv(text).problem?.line, 2)
    })
  }

  it('takes linear time for many quotes', () => {
    const {records} = readCsv(`name\n"${'""'.repeat(500_000)}"`)
    assert.equal(records[1]?.cells[0]?.length, 500_000)
  })
})
