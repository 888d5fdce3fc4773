"""The API version that each kind is asked for in; a kind that is not here cannot be asked for."""

_VERSIONS = {
    "v1": """
        Pod Service Endpoints ConfigMap ServiceAccount ResourceQuota LimitRange Event Node Namespace
        PersistentVolume PersistentVolumeClaim ReplicationController
    """,
    "apps/v1": "Deployment ReplicaSet StatefulSet DaemonSet ControllerRevision",
    "batch/v1": "Job CronJob",
    "autoscaling/v2": "HorizontalPodAutoscaler",
    "policy/v1": "PodDisruptionBudget",
    "discovery.k8s.io/v1": "EndpointSlice",
    "networking.k8s.io/v1": "Ingress IngressClass NetworkPolicy",
    "storage.k8s.io/v1": "StorageClass CSIDriver CSINode VolumeAttachment",
    "scheduling.k8s.io/v1": "PriorityClass",
    "apiextensions.k8s.io/v1": "CustomResourceDefinition",
    "argoproj.io/v1alpha1": "Application ApplicationSet AppProject Rollout",
    "kustomize.toolkit.fluxcd.io/v1": "Kustomization",
    "helm.toolkit.fluxcd.io/v2": "HelmRelease",
    "source.toolkit.fluxcd.io/v1": """
        GitRepository OCIRepository HelmRepository HelmChart Bucket
    """,
    "monitoring.coreos.com/v1": "PrometheusRule ServiceMonitor PodMonitor",
    "gateway.networking.k8s.io/v1": "Gateway HTTPRoute GatewayClass",
    "keda.sh/v1alpha1": "ScaledObject",
    "cert-manager.io/v1": "Certificate CertificateRequest ClusterIssuer",
}

API_VERSIONS = {kind: version for version, kinds in _VERSIONS.items() for kind in kinds.split()}
"""By kind. Secrets and what grants rights are left out on purpose: nobody has to see them."""
