import Foundation
import WebServiceClient

/// The requests of a batch in their final form: written, numbered and split into as many batches as the service's limit requires.
struct BatchPlan: Sendable {
    /// A request with the part that reads its response.
    struct Item: Sendable {
        let part: ODataBatch.Part
        let request: BatchRequest
        /// The URL of the request, the base of the relative links in its response.
        let url: URL
        let identity: CallIdentity
        /// The number of the earlier request to which the URL refers, and the rest of the URL after the reference.
        var origin: (number: Int, rest: String)?
    }

    /// The requests, whose numbers are their positions, from 1 on.
    private(set) var items: [Item] = []
    /// The results of the parts that send nothing, by token.
    private(set) var results: [UInt64: any Sendable] = [:]
    /// The tokens and their numbers, for the reading of the responses.
    let scope = BatchScope()

    /// Whether all requests only read, so that the batch can be repeated.
    var isSafe: Bool { items.allSatisfy { $0.request.method == "GET" || $0.request.method == "HEAD" } }

    /// Writes the requests of a batch.
    ///
    /// - Throws: The `ServiceError` of the first request that can't be made, or that can't be part of a batch.
    init(_ batch: ODataBatch, of client: ODataClient, _ form: BatchForm) async throws {
        guard !batch.hasForeignOrder else {
            let identity = CallIdentity(client: String(describing: type(of: client)), key: "$batch", route: "$batch")
            throw Self.refusal(identity, "the later part of run(_:after:) isn't in this batch: pass handles that this batch returned")
        }
        for part in batch.parts {
            try await BatchScope.$current.withValue(scope) { try await add(part, client, form) }
        }
        try checkGroups(form)
    }

    private mutating func add(_ part: ODataBatch.Part, _ client: ODataClient, _ form: BatchForm) async throws {
        _ = scope.takeUsed()
        let captured = try await EnclosedCall.of(client) { try await part.call($0) }
        guard let call = captured.call else {
            results[part.token] = captured.result
            return scope.add(part.token, number: nil)
        }
        let number = items.count + 1
        var used = scope.takeUsed()
        let references = used
        for token in part.dependencies {
            guard scope.contains(token) else {
                throw Self.refusal(call.identity, "it must run after a part that isn't an earlier request of the batch")
            }
            // A part that sends nothing because nothing changed has succeeded.
            if let earlier = scope.number(of: token) { used.insert(earlier) }
        }
        var item = Item(
            part: part, request: try form.request(call, number: number, group: part.group), url: call.request.url, identity: call.identity,
            origin: nil)
        item = depending(item, on: used.sorted())
        // The service would take `$1` for the name of an entity set.
        if form.changesAreInChangeSets,
            // Reads are outside of change sets.
            let other = references.sorted().first(where: {
                items[$0 - 1].request.group == nil || items[$0 - 1].request.group != item.request.group
            })
        {
            let areChanges = item.request.group != nil && items[other - 1].request.group != nil
            throw Self.refusal(
                call.identity,
                "it refers to request \(other), and version 2 resolves references within a change set only (OData 2.0, Batch Processing, "
                    + "section 2.2.1): \(areChanges ? "add both to one group, or " : "")send this one after the batch")
        }
        items.append(item)
        scope.add(part.token, number: number)
    }

    private func depending(_ item: Item, on used: [Int]) -> Item {
        var request = item.request
        request.dependencies = used
        var groups: [Int] = []
        for number in used {
            if let group = items[number - 1].request.group, group != request.group, !groups.contains(group) { groups.append(group) }
        }
        request.groupDependencies = groups
        let digits = request.target.utf8.dropFirst().prefix { (0x30...0x39).contains($0) }
        var origin: (number: Int, rest: String)?
        if request.target.utf8.first == UInt8(ascii: "$"), let number = Int(String(Substring(digits))) {
            origin = (number, String(Substring(request.target.utf8.dropFirst(digits.count + 1))))
        }
        return Item(part: item.part, request: request, url: item.url, identity: item.identity, origin: origin)
    }

    /// Refuses groups that the service doesn't perform atomically, and change sets with parts that they can't contain.
    private func checkGroups(_ form: BatchForm) throws {
        if !form.groupsAreAtomic, !items.isEmpty, let group = groups(in: 1...items.count).first(where: { $0.count > 1 }) {
            throw Self.refusal(
                items[group.lowerBound - 1].identity,
                "the service doesn't perform the \(group.count) requests of its group atomically (batching.groupsAreAtomic): "
                    + "add them to the batch itself")
        }
        guard !form.isJSON else { return }
        for item in items where item.request.group != nil && item.request.method == "GET" {
            throw Self.refusal(
                item.identity, "a change set has no reads (Protocol 4.01, section 11.7.7.3): add it to the batch outside the group")
        }
    }

    static func refusal(_ identity: CallIdentity, _ reason: String) -> ServiceError {
        let cause = ODataBatchError.unwritable(reason)
        return ServiceError(call: identity, stage: .binding, kind: .batch, message: cause.description, cause: cause)
    }

    // MARK: Units

    /// The ranges of the groups' numbers within a range of numbers.
    func groups(in numbers: ClosedRange<Int>) -> [ClosedRange<Int>] {
        units(in: numbers).filter { items[$0.lowerBound - 1].request.group != nil }
    }

    /// The single requests and the groups, as ranges of numbers.
    func units(in numbers: ClosedRange<Int>) -> [ClosedRange<Int>] {
        var units: [ClosedRange<Int>] = []
        for number in numbers {
            let group = items[number - 1].request.group
            if let group, let last = units.last, items[last.lowerBound - 1].request.group == group {
                units[units.count - 1] = last.lowerBound...number
            } else {
                units.append(number...number)
            }
        }
        return units
    }

    /// Returns the batches to send, as ranges of numbers in their order.
    ///
    /// - Throws: `ServiceError` if more requests than the limit must stay together.
    func batches(upTo limit: Int?) throws -> [ClosedRange<Int>] {
        guard !items.isEmpty else { return [] }
        guard let limit = limit.map({ max(1, $0) }), items.count > limit else { return [1...items.count] }
        var batches: [ClosedRange<Int>] = []
        for block in blocks() {
            guard block.count <= limit else {
                throw Self.refusal(
                    items[block.lowerBound - 1].identity,
                    "the \(block.count) requests from this one on belong together, since they are a group or refer to each other, and the "
                        + "service takes \(limit) in a batch (batching.limit)")
            }
            if let last = batches.last, last.count + block.count <= limit {
                batches[batches.count - 1] = last.lowerBound...block.upperBound
            } else {
                batches.append(block)
            }
        }
        return batches
    }

    /// The smallest ranges of requests that must stay together.
    private func blocks() -> [ClosedRange<Int>] {
        var blocks: [ClosedRange<Int>] = []
        for unit in units(in: 1...items.count) {
            let needed = unit.flatMap { items[$0 - 1].request.dependencies }.min() ?? unit.lowerBound
            var block = unit
            while let last = blocks.last, last.upperBound >= needed {
                block = last.lowerBound...block.upperBound
                blocks.removeLast()
            }
            blocks.append(block)
        }
        return blocks
    }
}

/// The form in which the requests of a batch are written for a service.
struct BatchForm: Sendable {
    let isJSON: Bool
    let urls: BatchSettings.URLForm
    let statesLengths: Bool
    let groupsAreAtomic: Bool
    /// Whether a change outside of a group is written as a separate change set. In version 2, only reads are outside of change sets
    /// (OData 2.0, Batch Processing, section 2.1).
    let changesAreInChangeSets: Bool
    /// The service root, with a slash at its end.
    let root: String
    /// The fields of the batch request that its parts don't repeat.
    let common: HTTPFields

    /// The fields that a part can't have: fields of the connection and the message, and credentials, which belong to the batch request
    /// (Protocol 4.01, section 11.7.2).
    private static let refused: Set<String> = [
        "authorization", "proxy-authorization", "www-authenticate", "cookie", "expect", "from", "max-forwards", "range", "te", "trailer",
        "transfer-encoding", "connection", "upgrade", "x-csrf-token",
    ]

    /// Returns the fields that each part repeats although the batch has them. Few services let parts inherit fields of the batch: Olingo
    /// reads these in the parts only, and in version 2 some services answer a part without a version in version 3.
    static func repeated(in version: ODataVersion) -> [HTTPFields.Name] {
        let versions = version == .v2 ? EndpointDefaults.headers(of: version).map { HTTPFields.Name($0.0) } : []
        return ["Accept-Language", "ConsistencyLevel"] + versions
    }

    /// Returns a call's request as a part.
    ///
    /// - Throws: `ServiceError` if it can't be part of a batch.
    func request(_ call: EnclosedCall, number: Int, group: Int?) throws -> BatchRequest {
        let request = call.request
        func refusal(_ reason: String) -> ServiceError { BatchPlan.refusal(call.identity, reason) }
        guard !call.isForeign else { throw refusal("it goes to another service") }
        guard request.method.isValid else { throw refusal("its method isn't a valid HTTP method") }
        var headers = HTTPFields()
        for field in request.headers where common[field.name] != field.value {
            guard field.name.isValid, !HTTPFields.Field.hasControls(field.value) else {
                throw refusal("its field \(field.name) has a name or a value that can't be sent")
            }
            if field.name == .contentLength || field.name == "Host" { continue }
            guard !Self.refused.contains(field.name.canonicalName) else {
                throw refusal(
                    "its field \(field.name) applies to connections and credentials, which belong to the whole batch: set it on the client or "
                        + "in the batch's headers")
            }
            headers.append(field.name, field.value)
        }
        var body: Data?
        if let given = request.body {
            guard let bytes = given.data else { throw refusal("its body is a stream or a file: send it on its own, or pass the bytes") }
            if !bytes.isEmpty || request.method != .get { body = bytes }
        }
        if isJSON, body != nil, request.method == .get || request.method == .delete {
            throw refusal("a \(request.method) request can't have a body in a JSON batch")
        }
        guard let (target, host) = target(request.url) else {
            throw refusal("its URL isn't below the service root")
        }
        if let host, !isJSON {
            var hosted: HTTPFields = ["Host": host]
            for field in headers { hosted.append(field.name, field.value) }
            headers = hosted
        }
        // The groups of a batch have positive numbers.
        let own = changesAreInChangeSets && request.method != .get ? -number : nil
        return BatchRequest(
            number: number, group: group ?? own, method: request.method.rawValue, target: target, headers: headers, body: body)
    }

    /// Returns the URL of a part, and the host to name with it.
    private func target(_ url: URL) -> (target: String, host: String?)? {
        let text = url.absoluteString
        guard text.hasPrefix(root) else { return nil }
        let relative = text.utf8.dropFirst(root.utf8.count)
        let isReference = relative.first == UInt8(ascii: "$") && relative.dropFirst().first.map { (0x30...0x39).contains($0) } == true
        switch isReference ? .relative : urls {
        case .relative:
            // A colon before the first slash would end a scheme.
            let path = relative.prefix { $0 != UInt8(ascii: "?") }
            guard path.contains(UInt8(ascii: ":")) else { return (String(Substring(relative)), nil) }
            return (String(Substring(path)).replacing(":", with: "%3A") + String(Substring(relative.dropFirst(path.count))), nil)
        case .absolute:
            return (text, nil)
        case .hostRelative:
            guard let scheme = text.firstRange(of: "://") else { return nil }
            let rest = text[scheme.upperBound...]
            let host = rest.prefix { $0 != "/" }
            return (String(rest.dropFirst(host.count)), String(host))
        }
    }
}
