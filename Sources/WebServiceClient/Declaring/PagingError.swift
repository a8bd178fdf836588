/// The reason why a page can't be fetched, or why there is none. It is the cause of a ``ServiceError`` of the kind `paging`.
public enum PagingError: DescribedError, Hashable {
    /// The endpoint doesn't state how its pages follow each other.
    case notPaged
    /// The closure made no call, or one that reads a stream.
    case noCall
    /// The next page is one that was read before. The text is its URL or cursor.
    case loop(String)
    /// The page has the same content as the one before it: the service ignores the query item.
    case repeatedPage(query: String)
    /// The link to the next page leads to another origin than the service's.
    case foreignOrigin(String, service: String)
    /// The link to the next page isn't a URL.
    case malformedLink(String)
    /// The payload doesn't have what the style needs at a path.
    case payload(path: String, problem: String)
    /// The reference belongs to another paging style than the endpoint's.
    case otherStyle(PagingStyle)
    /// The cursor can't be put into the request's body.
    case body(String)
    /// There are more pages than the limit.
    case tooManyPages(limit: Int)
    /// There are more items than the limit.
    case tooManyItems(limit: Int)

    /// A sentence with the problem and the fix. Secrets are masked.
    public var description: String { VisibleText.of(sentence) }

    private var sentence: String {
        switch self {
        case .notPaged:
            "The endpoint doesn't state how its pages follow each other: add .paged(by: …) to it, such as .paged(by: .linkHeader)."
        case .noCall:
            "The closure made no call with this client whose result is a value: call the paged endpoint in it."
        case .loop(let place):
            "The next page, \(SecretMask.text(ofURL: place)), is one that was read before: following it would never end."
        case .repeatedPage(let query):
            "The page has the same content as the one before it: the service ignores the query item \"\(query)\", or repeats its last page. "
                + "Correct the item, or name the total in the paging style."
        case .foreignOrigin(let origin, let service):
            "The next page is on \(SecretMask.text(ofURL: origin)), not on \(service). It isn't fetched, because the other server would get "
                + "the client's headers and credentials. If it belongs to the service, add it to Configuration.allowedOrigins."
        case .malformedLink(let link):
            "The link to the next page, \"\(SecretMask.text(ofURL: link).prefix(200))\", isn't a URL."
        case .payload(let path, let problem):
            "The next page can't be found: at \"\(path)\" in the payload, \(problem). Correct the paging style."
        case .otherStyle(let style):
            "The reference to the page isn't one of the endpoint's paging style, \(style): use a reference from the same endpoint."
        case .body(let problem):
            "The cursor can't be put into the request's body: \(problem)."
        case .tooManyPages(let limit):
            "There are more than \(limit) pages, which is the limit: raise it, or read only the first with prefix(_:)."
        case .tooManyItems(let limit):
            "There are more than \(limit) items, which is the limit: raise it, or read only the first with prefix(_:)."
        }
    }
}
