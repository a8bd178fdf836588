import Foundation

/// The use that an endpoint makes of the arguments and the result of its method, for checks of the method's types.
package struct EndpointUse: Sendable {
    /// A place in a request.
    package enum Place: Sendable, Hashable {
        /// Text in a path, a header field or an identifier.
        case text(String)
        /// A variable of a URI template.
        case variable
        /// Query items with a name.
        case queryItem(String)
        /// A header or a cookie with a name, which also takes lists and structures.
        case value(String)
        /// Query items with the names of the argument's fields.
        case queryFields
        /// Header fields with the names of the argument's fields.
        case headerFields
        case body
    }

    /// The endpoint's key.
    package let key: MethodName
    /// The places of each argument of the method, in its order; none for an argument that is ignored.
    package let places: [[Place]]
    /// The positions of the arguments that the method passes to `call`: those that aren't ignored.
    package let passed: [Int]
    private let plan: EndpointPlan
    private let partial: PartialEndpoint?

    init(_ plan: EndpointPlan, _ descriptor: EndpointDescriptor) {
        key = plan.key
        self.plan = plan
        partial = PartialEndpoint(EndpointTable.Entry(key: plan.key.description, descriptor: descriptor), plan.key)
        let ignored = descriptor.ignored
        // The plan's positions don't count ignored arguments.
        let positions = plan.key.labels.indices.filter { !ignored.contains(plan.key.labels[$0]) }
        var places = [[Place]](repeating: [], count: plan.key.arity)
        func add(_ place: Place, _ arguments: some Sequence<Int>) {
            for argument in arguments where positions.indices.contains(argument) { places[positions[argument]].append(place) }
        }
        add(.text("the service root"), plan.root?.arguments ?? [])
        switch plan.path {
        case .fixed: break
        case .segments(let segments): for segment in segments { add(.text("the path"), segment.arguments) }
        case .whole(let argument): add(.text("the path"), [argument])
        case .uriTemplate(_, let arguments): add(.variable, arguments.values.sorted())
        }
        for part in plan.query {
            switch part {
            case .fixed: break
            case .pair(let name, let value): add(.text("the query"), name.arguments.union(value?.arguments ?? []))
            case .named(_, let argument, let style) where style.format == .json: add(.body, [argument])
            case .named(let name, let argument, _): add(.queryItem(name), [argument])
            case .reflected(let argument): add(.queryFields, [argument])
            }
        }
        for (name, values) in plan.commonHeaders { for value in values { add(.text("the header \(name)"), value.arguments) } }
        for header in plan.headers {
            switch header {
            case .fixed, .bound: break
            case .template(let name, let value): add(.text("the header \(name)"), value.arguments)
            case .reflected(let argument): add(.headerFields, [argument])
            case .argument(let name, let argument, let style): add(style.format == .json ? .body : .value("the header \(name)"), [argument])
            case .cookie(let name, let argument, let style): add(style.format == .json ? .body : .value("the cookie \(name)"), [argument])
            }
        }
        add(.text("the cache identifier"), plan.cacheIdentifier?.arguments ?? [])
        add(.text("the call's identifier"), plan.identifier?.template.arguments ?? [])
        if let body = plan.body { add(.body, [body]) }
        self.places = places
        passed = positions
    }

    /// Whether a method with a part of the key's labels calls the endpoint.
    package func takes(_ method: MethodName) -> Bool {
        guard let partial, method.baseName == key.baseName, !method.isProperty, case .success = partial.positions(in: method) else {
            return false
        }
        return true
    }

    // MARK: Arguments

    /// Returns why no value of a type can be at a place, such as `is Draft, which isn't Encodable`; `nil` if one can be, or if it depends
    /// on the value.
    package static func fault(of type: any Any.Type, at place: Place) -> String? {
        let type = unwrapped(type)
        let name = "is \(type), which"
        if type is any QueryArgument.Type {
            return place == .queryFields ? nil : "\(name) is a query; use .query(.argument(…))"
        }
        switch place {
        case .text(let part):
            if isText(type) || type is any RawRepresentable.Type { return nil }
            if isCollection(type) { return "\(name) has no text for \(part)" }
            return type != Data.self && type is any Encodable.Type ? nil : "\(name) has no text for \(part)"
        case .variable:
            return isBytes(type) ? "\(name) has no text for the URI template" : nil
        case .queryItem(let item):
            return isBytes(type) ? "\(name) has no text for the query item \(item)" : nil
        case .value(let part):
            return isBytes(type) ? "\(name) has no text for \(part)" : nil
        case .queryFields:
            if isBytes(type) { return "\(name) has no fields for the query" }
            return hasNoFields(type) ? "\(name) has no names for the query; use .query(\"name\", .argument(…))" : nil
        case .headerFields:
            if isBytes(type) { return "\(name) has no fields for the headers" }
            return hasNoFields(type) ? "\(name) has no names for the headers; use .header(\"Name\", \"%%…%%\")" : nil
        case .body:
            return isBytes(type) || type is any Encodable.Type ? nil : "\(name) isn't Encodable, so it can't be a body"
        }
    }

    private static func unwrapped(_ type: any Any.Type) -> any Any.Type {
        var type = type
        while let optional = type as? any WrappingType.Type { type = optional.wrapped }
        return type
    }

    private static func isText(_ type: any Any.Type) -> Bool {
        type is any TextRepresentable.Type || type is any BinaryInteger.Type || type is any BinaryFloatingPoint.Type
            || type is any StringProtocol.Type || type == Character.self || type == Bool.self || type == UUID.self || type == URL.self
            || type == Date.self || type == Decimal.self || type == AnyHashable.self
    }

    private static func isCollection(_ type: any Any.Type) -> Bool {
        type is any ListValue.Type || type is any SetValue.Type || type is any PairsValue.Type
    }

    private static func hasNoFields(_ type: any Any.Type) -> Bool {
        type != AnyHashable.self && isText(type) || type is any ListValue.Type || type is any SetValue.Type
    }

    private static func isBytes(_ type: any Any.Type) -> Bool {
        type == Data.self || type == RequestBody.self || type == MultipartForm.self || type == StreamUpload.self
    }

    // MARK: Results

    /// Returns why a method's result doesn't fit the endpoint, with the fix; `nil` if it does, or if the method may convert what it gets.
    package func fault(ofResult type: any Any.Type) -> String? {
        let value = (type as? any EnclosingResponse.Type)?.valueType ?? type
        let settings = plan.settings
        let root = plan.payloadRoot.joined(separator: ".")
        let isStream = value is any StreamedResult.Type
        let isRead = value is any Decodable.Type
        if value == Void.self || value == NoContent.self {
            if !root.isEmpty {
                return "it returns nothing, so nothing is decoded at \"\(root)\"; return the value, or remove .decoding(at:)"
            }
            if isPaged { return "it returns nothing, so no page is read; return Pages or Items, or remove .paged(by:)" }
            if let setting = streamSetting { return "it returns nothing, so \(setting) has no effect; return a stream, or remove it" }
            return nil
        }
        if value == ResponseBody.self, !root.isEmpty {
            return "it returns the unread body, so nothing is decoded at \"\(root)\"; return the value, or remove .decoding(at:)"
        }
        if value is any SeriesResult.Type, !isPaged { return "it returns \(value), but the endpoint has no pages; add .paged(by:)" }
        guard isRead else { return nil }
        if case .off? = settings.parsing, !isStream, !(value is any SeriesResult.Type), !Self.isRaw(value) {
            return "it returns \(value), but .raw() decodes nothing; return Data or String, or remove .raw()"
        }
        if let setting = streamSetting, !isStream {
            return "it returns \(value), so \(setting), which is for streams, has no effect; return an EventStream or ElementStream, or "
                + "remove it"
        }
        if settings.attributes[WebSocketSettings.self] != nil, !isStream {
            return "it returns \(value), but .webSocket(…) opens a WebSocket; return a WebSocket, or remove .webSocket(…)"
        }
        if let statuses = settings.statuses, statuses.contains(204), !statuses.contains(299), !isStream, !Self.isRaw(value),
            Self.unwrapped(value) == value, !(value is any SeriesResult.Type)
        {
            return "it returns \(value), but 204, which counts as success, has no body; return \(value)?, or nothing"
        }
        return nil
    }

    private var isPaged: Bool { plan.settings.attributes[PagingStyle.self] != nil }

    /// A modifier that has an effect on streams only.
    private var streamSetting: String? {
        let attributes = plan.settings.attributes
        if attributes[StreamEnd.self] != nil { return ".endsStream(…)" }
        if attributes[FailingEvents.self] != nil { return ".failsStream(…)" }
        if attributes[ReconnectionPolicy.self] != nil { return ".reconnecting(…)" }
        return attributes[StreamFraming.self] != nil ? ".framing(…)" : nil
    }

    private static func isRaw(_ type: any Any.Type) -> Bool {
        let type = unwrapped(type)
        return type == Data.self || type == String.self
    }
}

/// A type that wraps another one.
private protocol WrappingType {
    static var wrapped: any Any.Type { get }
}

extension Optional: WrappingType {
    fileprivate static var wrapped: any Any.Type { Wrapped.self }
}

/// A response with a value.
private protocol EnclosingResponse {
    static var valueType: any Any.Type { get }
}

extension ServiceResponse: EnclosingResponse {
    fileprivate static var valueType: any Any.Type { Value.self }
}

extension WebServiceClient {
    /// The use that each endpoint of the class's table makes of arguments and results, in table order. Keys that have faults are missing.
    package class func endpointUses() -> [EndpointUse] {
        let table = endpoints
        let compiled = compiledTable(defaults)
        return table.keys.compactMap { key in
            guard let plan = compiled.plans[key], let descriptor = table[key] else { return nil }
            return EndpointUse(plan, descriptor)
        }
    }

    /// Calls an endpoint by its key and returns its value, as ``call(_:prepare:timeout:function:)`` does in a method of that name.
    ///
    /// - Parameter arguments: The arguments in the method's order, without those that the descriptor ignores.
    package func value<Value: Decodable>(_ type: Value.Type, of key: String, _ arguments: [(any Sendable)?]) async throws -> Value {
        let state = state
        let dispatcher = Dispatcher(state: state, endpoint: try state.endpoint(for: key), options: .none)
        if dispatcher.endpoint.isPaged {
            let series = SeriesCall(client: self, arguments: arguments) {
                let state = self.state
                return Dispatcher(state: state, endpoint: try state.endpoint(for: key), options: .none)
            }
            if let pages: Value = series.result() { return pages }
        }
        return try await dispatcher.value(arguments)
    }

    /// Sends the request of an endpoint by its key and discards the response.
    package func send(_ key: String, _ arguments: [(any Sendable)?]) async throws {
        let _: NoContent = try await value(NoContent.self, of: key, arguments)
    }
}
