import {KUBERNETES_VERSION} from '../../version.ts'

export const INFO = {title: 'Kubernetes', version: KUBERNETES_VERSION}
