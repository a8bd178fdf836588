/// The members of an object of CSDL JSON. Readers take members out; the rest is unknown.
final class JSONObject {
    let place: Place
    /// The members in the order of the document; `nil` for taken ones.
    private var slots: [PositionedJSON.Member?]
    /// The positions of annotations by the name of the annotated member; the name is empty for annotations of the object. The index avoids
    /// a search per member, because objects can have as many annotations as members.
    private var annotations: [String: [Int]] = [:]

    /// Creates the members of an object. If two members have the same name, the first counts, and the other is reported.
    init(_ members: [PositionedJSON.Member], at place: Place, state: ReadingState) {
        self.place = place
        var seen: Set<String> = []
        slots = members.filter { member in
            if seen.insert(member.name).inserted { return true }
            state.report(
                .duplicate, "there are two members '\(member.name)'", assuming: "the first counts", at: member.place)
            return false
        }
        for (position, member) in slots.enumerated() {
            guard let name = member?.name, let mark = name.utf8.firstIndex(of: UInt8(ascii: "@")) else { continue }
            annotations[String(name[..<mark]), default: []].append(position)
        }
    }

    /// The members that weren't taken.
    var members: [PositionedJSON.Member] { slots.compactMap { $0 } }

    /// Whether one of the members is a control member.
    var hasControls: Bool { slots.contains { $0?.name.utf8.first == UInt8(ascii: "$") } }

    /// Removes a member and returns its value.
    func take(_ name: String) -> PositionedJSON? {
        guard let index = slots.firstIndex(where: { $0?.name == name }) else { return nil }
        defer { slots[index] = nil }
        return slots[index]?.value
    }

    func value(_ name: String) -> PositionedJSON? { slots.first { $0?.name == name }??.value }

    /// Removes and returns the members with annotations of the object itself, or of one of its members.
    func takeAnnotations(of name: String = "") -> [PositionedJSON.Member] {
        (annotations.removeValue(forKey: name) ?? []).compactMap { position in
            defer { slots[position] = nil }
            return slots[position]
        }
    }

    /// Removes and returns the members with names of the model: neither control members nor annotations.
    func takeNamed() -> [PositionedJSON.Member] {
        slots.indices.compactMap { position in
            guard let name = slots[position]?.name.utf8, name.first != UInt8(ascii: "$"), !name.contains(UInt8(ascii: "@")) else {
                return nil
            }
            defer { slots[position] = nil }
            return slots[position]
        }
    }
}

extension JSONObject {
    func string(_ name: String, _ state: ReadingState) -> String? {
        guard let value = take(name) else { return nil }
        if let text = value.string { return text }
        state.report(
            .invalidValue, "\(name) isn't a string", assuming: "it is ignored", at: value.place)
        return nil
    }

    func bool(_ name: String, default fallback: Bool = false, _ state: ReadingState) -> Bool {
        guard let value = take(name) else { return fallback }
        if let bool = value.bool { return bool }
        return state.bool(value.text ?? "", default: fallback, of: name, at: value.place)
    }

    /// Returns the elements of an array; none if the member is missing or another value, which is reported.
    func array(_ name: String, _ state: ReadingState) -> [PositionedJSON] {
        guard let value = take(name) else { return [] }
        if let elements = value.array { return elements }
        state.report(.invalidValue, "\(name) isn't an array", assuming: "it is ignored", at: value.place)
        return []
    }

    /// Returns the default value of a property or term as text. Null is the text `null`, except for strings, for which it means none.
    func defaultValue(of type: ServiceModel.TypeReference, _ state: ReadingState) -> String? {
        guard let value = take("$DefaultValue") else { return nil }
        if case .null = value.content, type.name == "Edm.String" { return nil }
        if value.text == nil {
            state.report(.invalidValue, "$DefaultValue is an array or object", assuming: "it is ignored", at: value.place)
        }
        return value.text
    }

    /// Reads a type with its facets; `$Type` is `Edm.String` by default (CSDL JSON, section 7.1).
    func typeReference(_ state: ReadingState, type member: String = "$Type") -> ServiceModel.TypeReference {
        let name = string(member, state).map(state.name) ?? "Edm.String"
        var type = ServiceModel.TypeReference(
            name, isCollection: bool("$Collection", state), isNullable: bool("$Nullable", state),
            isUnicode: bool("$Unicode", default: true, state))
        type.maxLength = take("$MaxLength").flatMap { state.maxLength($0.text ?? "", at: $0.place) }
        type.precision = take("$Precision").flatMap { state.precision($0.text ?? "", of: name, at: $0.place) }
        // The default scale of a decimal is variable in JSON.
        let scale = take("$Scale")
        type.scale = scale.map { state.scale($0.text ?? "", at: $0.place) } ?? (name == "Edm.Decimal" ? .variable : nil)
        type.srid = take("$SRID").flatMap { state.srid($0.text ?? "", at: $0.place) }
        return type
    }

    /// Reports the members that remain in an object whose part of the model has no extensions.
    func reportRest(_ state: ReadingState) {
        for member in members { reportUnknown(member, state) }
    }

    private func reportUnknown(_ member: PositionedJSON.Member, _ state: ReadingState) {
        state.report(.unknownElement, "CSDL has no member '\(member.name)' here", assuming: "it is ignored", at: member.place)
    }

    /// Returns the rest: unknown control members are kept as attributes, other members are reported.
    func rest(_ state: ReadingState) -> ServiceModel.Extensions {
        var extensions = ServiceModel.Extensions()
        for member in members {
            if member.name.hasPrefix("$"), ReadingState.isExtensionName(String(member.name.dropFirst())), let text = member.value.text {
                extensions.attributes.append(.init(name: String(member.name.dropFirst()), value: text))
                state.report(
                    .unknownElement, "CSDL has no member '\(member.name)' here", assuming: "it is kept unchanged", at: member.place,
                    severity: .noted)
            } else {
                reportUnknown(member, state)
            }
        }
        extensions.attributes.sort { $0.name < $1.name }
        return extensions
    }
}
