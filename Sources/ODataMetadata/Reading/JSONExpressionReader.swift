/// Reads annotations and expressions of CSDL JSON (sections 14.2 to 14.4).
struct JSONExpressionReader {
    let state: ReadingState

    /// Reads the annotations of an object, `@Core.Description`, and their annotations, `@Core.Description@Core.IsLanguageDependent`.
    func annotations(in object: JSONObject, of name: String = "") -> [ServiceModel.Annotation] {
        let members = object.takeAnnotations(of: name)
        if members.isEmpty { return [] }
        let chains = members.map { member in
            (member.name.utf8.dropFirst(name.utf8.count + 1).split(separator: UInt8(ascii: "@")).map { String(Substring($0)) }, member)
        }
        return annotations(chains, level: 0, at: object.place)
    }

    private func annotations(_ chains: [([String], PositionedJSON.Member)], level: Int, at place: Place) -> [ServiceModel.Annotation] {
        var result: [ServiceModel.Annotation] = []
        var owners: [String: Int] = [:]
        var nested: [Int: [([String], PositionedJSON.Member)]] = [:]
        for (chain, member) in chains where chain.count == level + 1 {
            owners[chain[level]] = result.count
            result.append(annotation(chain[level], member))
        }
        for (chain, member) in chains where chain.count != level + 1 {
            guard chain.count > level, let owner = owners[chain[level]] else {
                state.report(
                    .missing, "'\(member.name)' annotates an annotation that doesn't exist", assuming: "it is ignored", at: member.place)
                continue
            }
            nested[owner, default: []].append((chain, member))
        }
        // The depth is the number of `@` in a name, which is rarely two in real documents.
        if level < 50 {
            for owner in result.indices {
                guard let chains = nested[owner] else { continue }
                result[owner].annotations = annotations(chains, level: level + 1, at: place)
            }
        }
        return state.unique(result)
    }

    private func annotation(_ name: String, _ member: PositionedJSON.Member) -> ServiceModel.Annotation {
        let parts = name.utf8.split(separator: UInt8(ascii: "#"), maxSplits: 1).map { String(Substring($0)) }
        let term = state.name(parts.first ?? "")
        return state.within("@" + term) {
            var annotation = ServiceModel.Annotation(
                term: term, qualifier: parts.count > 1 ? parts[1] : nil, value: expression(member.value))
            annotation.place = member.place
            return annotation
        }
    }

    func expression(_ tree: PositionedJSON) -> ServiceModel.Expression {
        switch tree.content {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .number(let text): return Self.number(text)
        case .string(let text): return .string(text)
        case .array(let elements): return .collection(elements.map(expression))
        case .object(let members):
            let object = JSONObject(members, at: tree.place, state: state)
            guard let value = dynamic(object) else { return .record(record(object)) }
            let annotations = annotations(in: object)
            object.reportRest(state)
            return annotations.isEmpty ? value : .annotated(value, annotations)
        }
    }

    /// JSON doesn't distinguish kinds of numbers: the spelling decides.
    static func number(_ text: String) -> ServiceModel.Expression {
        if let value = Int64(text), text != "-0" { return .int(value) }
        return text.utf8.contains { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") } ? .float(text) : .decimal(text)
    }

    /// Reads an expression that is written as an object with a `$` member, or returns `nil` for a record.
    private func dynamic(_ object: JSONObject) -> ServiceModel.Expression? {
        guard object.hasControls else { return nil }
        if let path = object.string("$Path", state) { return .path(state.path(path)) }
        if object.take("$Null") != nil { return .null }
        for op in ServiceModel.Expression.UnaryOperator.allCases {
            if let operand = object.take("$" + op.rawValue) { return .unary(op, expression(operand)) }
        }
        for op in ServiceModel.Expression.BinaryOperator.allCases {
            if let operands = object.take("$" + op.rawValue) {
                let parts = list(operands, atLeast: 2, atMost: 2)
                return .binaryOperation(op, parts[0], parts[1])
            }
        }
        if let arguments = object.take("$Apply") {
            return .apply(function: state.path(object.string("$Function", state) ?? ""), arguments: list(arguments, atLeast: 0))
        }
        for name in ["$Cast", "$IsOf"] {
            if let operand = object.take(name) {
                let hasScale = object.value("$Scale") != nil
                var type = object.typeReference(state)
                // Nullability has no meaning here, and the default scale applies to properties only.
                type.isNullable = true
                if !hasScale { type.scale = nil }
                let value = expression(operand)
                return name == "$Cast" ? .cast(value, type: type) : .isOf(value, type: type)
            }
        }
        if let operands = object.take("$If") {
            let parts = list(operands, atLeast: 2, atMost: 3)
            return .if(parts[0], then: parts[1], else: parts.count > 2 ? parts[2] : nil)
        }
        if let operand = object.take("$LabeledElement") {
            return .labeledElement(name: object.string("$Name", state) ?? "", expression(operand))
        }
        if let name = object.string("$LabeledElementReference", state) { return .labeledElementReference(state.name(name)) }
        if let operand = object.take("$UrlRef") { return .urlReference(expression(operand)) }
        return nil
    }

    private func list(_ tree: PositionedJSON, atLeast least: Int, atMost most: Int = .max) -> [ServiceModel.Expression] {
        var parts = (tree.array ?? [tree]).map(expression)
        if parts.count < least {
            state.report(.missing, "an expression has too few operands", assuming: "they are null", at: tree.place)
            parts += Array(repeating: .null, count: least - parts.count)
        } else if parts.count > most {
            state.report(.duplicate, "an expression has too many operands", assuming: "the first \(most) count", at: tree.place)
        }
        return parts
    }

    private func record(_ object: JSONObject) -> ServiceModel.Expression.Record {
        var record = ServiceModel.Expression.Record()
        if let type = object.string("@type", state) ?? object.string("@odata.type", state) {
            // The type is written as `#Sales.Address`, or as the address of a document with this fragment.
            let name = type.utf8.lastIndex(of: UInt8(ascii: "#")).map { type[type.utf8.index(after: $0)...] } ?? type[...]
            record.type = state.name(String(name))
        }
        for member in object.takeNamed() {
            record.values.append(
                .init(
                    name: member.name, value: expression(member.value), annotations: annotations(in: object, of: member.name)))
        }
        record.annotations = annotations(in: object)
        object.reportRest(state)
        return record
    }
}
