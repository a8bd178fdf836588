import Foundation
import WebServiceClient

/// What a payload says of itself as a whole: its context URL, which may come behind the links that begin there, and where it came from.
final class ContextURL: Sendable, Hashable {
    /// Where the payload came from; `nil` where nobody said.
    let page: URL?
    /// Whether a context may still come, as the payload is read piece by piece.
    let mayCome: Bool
    private let value: Locked<String?>
    private let isOld: Locked<Bool>

    init(_ text: String?, page: URL? = nil, isBeforeVersion4 isOld: Bool = false, mayCome: Bool = false) {
        self.page = page
        self.mayCome = mayCome
        value = Locked(text)
        self.isOld = Locked(isOld)
    }

    var text: String? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }

    /// Whether the payload is in the shape of version 2 or 3, whose points in time may come without an offset.
    var isBeforeVersion4: Bool {
        get { isOld.withLock { $0 } }
        set { isOld.withLock { $0 = newValue } }
    }

    static func == (left: ContextURL, right: ContextURL) -> Bool { left.text == right.text }

    /// Nothing: a value that is in a set must keep its hash when its page's context comes.
    func hash(into hasher: inout Hasher) {}
}

/// What the relative links of one object in a payload begin at (JSON Format 4.01, section 4.4): the context URL of the object or of the
/// nearest object around it, each resolved against the next one out, and the last one against the URL that the payload came from.
///
/// It is no part of the value that holds it: all are equal.
struct LinkBase: Sendable, Hashable {
    /// The payload's own context; `nil` for values that came with no payload.
    var root: ContextURL?
    /// The contexts of objects inside, from the outside in.
    var inner: [String] = []

    /// The base as a URL; `nil` where it isn't known from where the payload came, and no context says it.
    ///
    /// - Parameter page: where the payload is taken to come from, if nobody said.
    func url(page: URL? = nil) -> URL? {
        guard let page = root?.page ?? page else {
            var base: URL?
            for context in [root?.text].compactMap(\.self) + inner { base = NextLink.resolved(context, against: base) ?? base }
            return base?.scheme == nil ? nil : base
        }
        var base = NextLink.base(context: root?.text, page: page)
        for context in inner { base = NextLink.base(context: context, page: base) }
        return base
    }

    /// The URL behind a link of the object; `nil` where the link is none or isn't a URL, or where it begins isn't known.
    func url(of link: String?) -> URL? {
        guard let link, let url = NextLink.resolved(link, against: url()), url.scheme != nil else { return nil }
        return url
    }

    static func == (left: LinkBase, right: LinkBase) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
