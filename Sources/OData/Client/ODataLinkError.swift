public import WebServiceClient

/// Why a link that the service sent isn't followed.
public enum ODataLinkError: DescribedError, Sendable, Hashable {
    /// The link isn't a URL.
    case malformed(String)
    /// The link leads to another origin than the service's.
    case foreignOrigin(String, service: String)
    /// The link leads to a page that was read before.
    case loop(String)
    /// A relation wasn't expanded, and the service gave no link for it.
    case notLoaded

    /// A sentence for people. Query and credentials of links are left out, as they may hold secrets.
    public var description: String { VisibleText.of(sentence) }

    private var sentence: String {
        switch self {
        case .malformed(let link):
            "The service's next link '\(SecretMask.text(ofURL: link))' isn't a URL."
        case .foreignOrigin(let origin, let service):
            "The service's next link leads to \(origin), not to \(service): it isn't followed, since the other server would learn of the "
                + "query. Set foreignLinks to followWithoutCredentials if it is to be trusted."
        case .loop(let link):
            "The service's next link \(SecretMask.text(ofURL: link)) leads to a page that was read before: following it would never end."
        case .notLoaded:
            "The relation wasn't loaded, and the service gave no link to it: expand it in the query, or ask for full metadata."
        }
    }
}

/// What to do with links of the service that lead to another origin.
public enum ForeignLinkPolicy: String, Sendable, Hashable, CaseIterable {
    /// Fail with ``ODataLinkError/foreignOrigin(_:service:)``.
    case refuse
    /// Follow them, without the client's credentials and headers.
    case followWithoutCredentials
    /// Take their path and query on the service's own origin: for services that don't know of the proxy before them, and write links with
    /// the host, the port or the scheme inside.
    case rebase
}
