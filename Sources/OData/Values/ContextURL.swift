import Foundation
import WebServiceClient

/// The URL of a payload and its context URL. In a payload, the context URL can come after links that are relative to it.
final class ContextURL: Sendable {
    /// The URL of the payload; `nil` if it isn't known.
    let page: URL?
    /// A Boolean value that indicates whether the payload is read incrementally, so that the context can arrive later.
    let mayCome: Bool
    private let value: Locked<String?>
    private let isOld: Locked<Bool>

    init(_ text: String?, page: URL? = nil, isBeforeVersion4 isOld: Bool = false, mayCome: Bool = false) {
        self.page = page
        self.mayCome = mayCome
        value = Locked(text)
        self.isOld = Locked(isOld)
    }

    /// Returns the type that a context URL names (Protocol 4.01, section 10): `Ns.Chief` in `$metadata#Staff/Ns.Chief(ID)/$entity`, and in
    /// `$metadata#Collection(Ns.Chief)`; `nil` without one.
    static func typeName(in context: String) -> String? {
        guard let mark = context.lastIndex(of: "#") else { return nil }
        var text = context[context.index(after: mark)...]
        if text.hasSuffix("/$entity") { text = text.dropLast("/$entity".count) }
        if text.hasPrefix("Collection("), text.hasSuffix(")") {
            text = text.dropFirst("Collection(".count).dropLast()
        } else if text.last == ")" {
            // The selected and expanded properties.
            var depth = 0
            let start = text.lastIndex { letter in
                depth += letter == ")" ? 1 : letter == "(" ? -1 : 0
                return depth == 0
            }
            text = text[..<(start ?? text.endIndex)]
        }
        let name = text[(text.lastIndex(of: "/").map { text.index(after: $0) } ?? text.startIndex)...]
        return name.contains(".") && ODataName.isQualified(name) ? String(name) : nil
    }

    var text: String? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }

    /// A Boolean value that indicates whether the payload has the format of version 2 or 3, which allows points in time without an offset.
    var isBeforeVersion4: Bool {
        get { isOld.withLock { $0 } }
        set { isOld.withLock { $0 = newValue } }
    }
}

/// The base of the relative links of one object in a payload (JSON Format 4.01, section 4.4): the context URL of the object or of the
/// nearest enclosing one. Each context is relative to the context of the enclosing object, and the outermost to the payload's URL.
///
/// All bases are equal, so that they don't affect the equality of the value that holds them.
struct LinkBase: Sendable, Hashable {
    /// The payload's context; `nil` for values that don't come from a payload.
    var root: ContextURL?
    /// The contexts of nested objects, outermost first.
    var inner: [String] = []

    /// Returns the base as a URL; `nil` if neither the payload's URL nor a context determines it.
    ///
    /// - Parameter page: The URL to assume if the payload's isn't known.
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

    /// Returns the URL of a link of the object; `nil` if the link is missing or not a URL, or if it is relative and its base isn't known.
    func url(of link: String?) -> URL? {
        guard let link, let url = NextLink.resolved(link, against: url()), url.scheme != nil else { return nil }
        return url
    }

    static func == (left: LinkBase, right: LinkBase) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
