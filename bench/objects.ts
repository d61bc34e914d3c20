const TEXT = 'trust '.repeat(150)

/** The object that the measurements work with: about 1 KiB once it is stored. */
export const configMap = (namespace: string, number: number | string) => ({
  metadata: {name: `object-${number}`, namespace, labels: {app: 'bench'}},
  data: {text: TEXT},
})

export const configMapsPath = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`
