"""Names of files that hold secrets, by family, as patterns of an ignore file. Case does not count.

Sources, both MIT: the file-name detector of thoughtworks/talisman (detector/filename/filename_detector.go
at efcb1a36, 2025-11-12) and the rules for file names of eth0izzle/shhgit (config.yaml at bac0c7d3,
2025-02-28); beside them the documentation of the programs that write the files. Left out are names that
mostly hold no secret: settings.py, schema.rb, database.yml, *.log, *.sql, shell profiles, *.asc.
"""

from __future__ import annotations

ENVIRONMENTS = (
    *(".env", ".env.*", "!.env.example", "!.env.sample", "!.env.template", ".envrc"),
    *("*.env", "!example.env", "!sample.env", "!template.env"),
    *(".dev.vars", ".dev.vars.*", "!.dev.vars.example", "local.settings.json"),
)

KEYS = (
    *("*.pem", "*.key", "*.keypair", "*.p8", "*.p12", "*.pkcs12", "*.pfx", "*.ppk", "*.snk"),
    *("*.jks", "*.keystore", "*.keyring", "*.keychain", "*.keychain-db", "*.agilekeychain"),
    *("*.kdb", "*.kdbx", "*.kwallet", "*.agekey", "*.ovpn", "*.tblk"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "!id_*.pub"),
    *("*_rsa", "*_dsa", "*_ecdsa", "*_ed25519"),
)

CLOUD = (
    *("**/.aws/credentials", "**/.azure/*.json", "*.publishsettings", "*.pubxml.user"),
    *("credentials*.json", "credentials.xml", "client_secret*.json", "*firebase-adminsdk*.json"),
    *("service-account*.json", "service_account*.json", "application_default_credentials.json"),
    *("**/.kube/config", "kubeconfig", "*.kubeconfig", "**/.docker/config.json", ".dockercfg"),
    *("*.tfstate", "*.tfstate.*", "*.tfvars", "*.tfvars.json", "credentials.tfrc.json"),
    *(".terraformrc", "terraform.rc", ".vault-token", ".s3cfg", "s3cfg", ".boto", "rclone.conf"),
    *("**/gh/hosts.yml", "**/.config/hub", "**/doctl/config.yaml"),
)

PACKAGE_MANAGERS = (
    *(".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials"),
    *("**/.gem/credentials", "**/.cargo/credentials", "**/.cargo/credentials.toml"),
    *("**/.m2/settings.xml", "**/.m2/settings-security.xml", "auth.json"),
)

MOBILE_SIGNING = ("key.properties", "keystore.properties", "signing.properties")

DATABASES = (
    *(".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf", "recentservers.xml", "sitemanager.xml"),
    *("datasources.local.xml", "robomongo.json", "mongoid.yml", ".*_history"),
)

SERVERS = (
    *(".htpasswd", "htpasswd", "htdigest", "secrets.yaml", "secrets.yml", "secrets.json"),
    *("secrets.toml", "secret_token.rb", "wp-config.php", "LocalSettings.php", "*vault_pass*"),
    *("sftp.json", "sftp-config.json", ".ftpconfig", ".remote-sync.json", "webservers.xml"),
    *("jenkins.plugins.publish_over_ssh.*.xml", "hudson.util.secret"),
)

NEVER_STORE = (
    *ENVIRONMENTS,
    *KEYS,
    *CLOUD,
    *PACKAGE_MANAGERS,
    *MOBILE_SIGNING,
    *DATABASES,
    *SERVERS,
)
"""The text of these files is never kept. That of samples and public halves may be."""
