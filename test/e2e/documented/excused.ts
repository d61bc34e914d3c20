/** Commands of the documentation that no test types, and why. A command that is a beginning of one that is tried needs no entry. */
export const EXCUSED: Readonly<Record<string, string>> = {
  'npm ci && bin/run.js init': 'CI runs it in a fresh clone: it reads it from the README (.ci/run)',
  'npm ci && npm test': 'CI runs it in a fresh clone: it reads it from the README (.ci/run)',
  'npm install -g .': 'it changes the machine; package.json names the program that it links',
  'npm run lint': 'CI runs it (.ci/run)',
  'npm run unused': 'CI runs it (.ci/run)',
  'systemctl daemon-reload && systemctl enable --now trustadm-node': 'it changes the machine',
  'systemctl disable --now trustadm-node': 'it changes the machine',
  'systemctl restart kubelet.service':
    'it changes the machine; kubeadm-node.slow.test.ts runs it with a stand-in for systemctl',
  'trustadm controllers --controllers bootstrap-signer,token-cleaner --print-rbac --deployment --image registry.example.com/trustadm:0.1.0 | kubectl apply -f -':
    'the server has no Deployments; controller-manifests.test.ts applies the rest of it, and the Deployment as a Pod',
  'trustadm init --systemd':
    'it changes the machine; systemd.test.ts runs it with a stand-in for systemctl',
  'trustadm init --etcd-servers https://10.0.0.1:2379':
    'needs an etcd: tried with a real one in etcd-pki/etcd.test.ts',
  'trustadm restore objects.backup --to etcd --etcd-servers https://10.0.0.1:2379':
    'needs an etcd: tried with a real one in other-store/etcd.test.ts',
  'trustadm restore objects.backup --to embedded':
    'needs an etcd: tried with a real one in etcd-pki/etcd.test.ts',
  'trustadm restore plane.backup --files-only':
    'needs an etcd: backup/etcd.test.ts does the same with a real one',
  'trustadm init --upload-certs --etcd-servers https://10.0.0.1:2379 --control-plane-endpoint api.example.com:6443':
    'it needs an etcd; several-servers/etcd.test.ts runs it',
  'trustadm join 10.0.0.1:6443 --token … --discovery-token-ca-cert-hash … --control-plane --certificate-key …':
    'it needs an etcd; several-servers/etcd.test.ts runs it',
  'export ETCDCTL_ENDPOINTS=https://10.0.0.1:2379 ETCDCTL_CACERT=/var/lib/trustadm/pki/etcd/ca.crt':
    'it needs an etcd; etcd-restore/etcd.test.ts passes the same as a flag',
  'export ETCDCTL_CERT=/var/lib/trustadm/pki/etcd/healthcheck-client.crt ETCDCTL_KEY=/var/lib/trustadm/pki/etcd/healthcheck-client.key':
    'it needs an etcd; etcd-pki/etcd.test.ts uses the files',
  'etcdctl snapshot save etcd.snapshot': 'it needs an etcd; etcd-restore/etcd.test.ts runs it',
  'etcdutl snapshot status etcd.snapshot': 'it only shows something',
  'etcdutl snapshot restore etcd.snapshot --bump-revision 1000000000 --mark-compacted --data-dir /var/lib/etcd --name etcd1 --initial-advertise-peer-urls https://10.0.0.1:2380 --initial-cluster etcd1=https://10.0.0.1:2380,etcd2=https://10.0.0.2:2380,etcd3=https://10.0.0.3:2380':
    'it needs an etcd; etcd-restore/etcd.test.ts runs it with etcdctl',
  'kubectl apply --prune': 'a word for what kubectl does with any files',
  'kubectl explain': 'a word for what kubectl does with any argument',
}
