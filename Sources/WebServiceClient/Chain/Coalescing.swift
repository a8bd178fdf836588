import Foundation

/// An attribute that decides which response a call gets, or whether it accepts the response. Calls share an exchange only if these
/// attributes are equal.
protocol DecisiveAttribute: EndpointAttribute, Hashable {}

extension CacheMode: DecisiveAttribute {}
extension CookiePolicy: DecisiveAttribute {}
extension DigestVerification: DecisiveAttribute {}
extension EndpointCaching: DecisiveAttribute {}
extension ExpectedDigest: DecisiveAttribute {}
extension IdempotencyKey.Given: DecisiveAttribute {}
extension OfflineCaching: DecisiveAttribute {}
extension RedirectPolicy: DecisiveAttribute {}

/// The decisive attributes of a call, to compare with those of other calls.
struct DecisiveAttributes: Hashable, Sendable {
    private let values: [any DecisiveAttribute]

    init(of attributes: EndpointAttributes) {
        values = attributes.all.compactMap { $0 as? any DecisiveAttribute }
            .sorted { String(reflecting: type(of: $0)) < String(reflecting: type(of: $1)) }
    }

    static func == (one: Self, other: Self) -> Bool {
        guard one.values.count == other.values.count else { return false }
        for (value, counterpart) in zip(one.values, other.values) where !value.isEqual(to: counterpart) { return false }
        return true
    }

    func hash(into hasher: inout Hasher) {
        for value in values { value.hash(into: &hasher) }
    }
}

extension DecisiveAttribute {
    fileprivate func isEqual(to other: any DecisiveAttribute) -> Bool { other as? Self == self }
}

/// Lets identical calls share one exchange: ``EndpointDescriptor/coalesced()``.
public struct Coalescing: EndpointAttribute, PortableAttribute, Hashable, Codable {
    /// Whether identical calls share an exchange.
    public var isEnabled: Bool

    /// Creates the setting.
    public init(isEnabled: Bool = true) {
        self.isEnabled = isEnabled
    }

    package init?(described text: String) {
        self.init(isEnabled: DescribedMembers(text, of: "Coalescing")?["isEnabled"] == "true")
    }

    /// A profile can't make calls share the response of another one.
    package var leastTrustedSource: AttributeSource { isEnabled ? .exportedTable : .profile }
}

extension EndpointAttribute where Self == Coalescing {
    /// Identical calls share one exchange while it is in flight: see ``EndpointDescriptor/coalesced()``.
    public static var coalesced: Coalescing { Coalescing() }
}

/// The stage that gives identical calls one exchange: see ``EndpointDescriptor/coalesced()``.
///
/// It runs once per hop, after the interceptors that run per call and per hop, so that the requests that it compares are complete except
/// for the credentials. Those are the same for all calls of a client to one origin.
struct CoalescingStage: SharingStage {
    let exchanges: SharedExchanges
    /// Separates the exchanges of environments and sessions.
    var partition = ""

    func stage(before next: @escaping NextInterceptor) -> NextInterceptor {
        { request, context in
            guard !context.attributes.isEmpty, let key = key(of: request, context) else { return try await next(request, context) }
            return try await exchanges.response(for: .request(key), request, context, next) { _ in }
        }
    }

    /// `nil` if the call doesn't share its exchange.
    private func key(of request: ServiceRequest, _ context: CallContext) -> SharedExchanges.RequestKey? {
        guard context.attributes[Coalescing.self]?.isEnabled == true, !context.record.isStream, context.dryRun == nil,
            request.method == .get || request.method == .head, request.body == nil
        else { return nil }
        var timeouts = request.timeouts
        timeouts.total = nil
        return SharedExchanges.RequestKey(
            method: request.method, url: request.url.absoluteString, headers: request.headers, isForeign: context.isForeign,
            serviceOrigin: context.serviceOrigin, trust: request.trust?.storageID, timeouts: timeouts, bodyLimit: context.record.bodyLimit,
            partition: partition, attributes: DecisiveAttributes(of: context.attributes))
    }
}
