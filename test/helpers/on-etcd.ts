/** What processes of the tests need in their environment if a real etcd is the store of all control planes: see test/on-etcd/run.ts. */
export const onEtcd: Record<string, string> = Object.fromEntries(
  ['TRUSTADM_TEST_ETCD', 'TRUSTADM_TEST_PREFIXES', 'NODE_OPTIONS']
    .filter(() => process.env.TRUSTADM_TEST_ETCD)
    .map((name) => [name, process.env[name] ?? '']),
)

export const isOnEtcd = onEtcd.TRUSTADM_TEST_ETCD !== undefined

/** A suite about the embedded store or its files, which a control plane on etcd does not have. */
export function describeEmbedded(title: string, tests: (this: Mocha.Suite) => void): void {
  if (isOnEtcd) describe.skip(`${title} (only with the embedded store)`, tests)
  else describe(title, tests)
}

/** A test about the embedded store or its files. */
export function itEmbedded(title: string, test: Mocha.AsyncFunc): void {
  if (isOnEtcd) it.skip(`${title} (only with the embedded store)`, test)
  else it(title, test)
}
