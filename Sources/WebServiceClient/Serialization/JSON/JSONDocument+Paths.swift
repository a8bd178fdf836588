import Foundation

// Coding paths are made when somebody asks for one, mostly for an error: the tape knows the way up.
extension JSONDocument {
    func path(of place: JSONPlace) -> [any CodingKey] {
        guard place.container >= 0 else { return storage.pointee.rootPath }
        return path(ofContainerAt: place.parent) + [key(ofNode: place.index, number: Int(place.number), in: place.parent)]
    }

    /// Where a container is.
    func place(ofContainerAt node: Int) -> JSONPlace {
        let up = word(node + 2)
        return JSONPlace(node: node, container: up.high, number: up.low)
    }

    func path(ofContainerAt container: Int) -> [any CodingKey] {
        var steps: [(node: Int, number: Int, parent: Int)] = []
        var node = container
        while node >= 0 {
            let up = word(node + 2)
            guard up.high >= 0 else { break }
            steps.append((node, up.low, up.high))
            node = up.high
        }
        var path = storage.pointee.rootPath
        for step in steps.reversed() {
            let name = rawKey(ofNode: step.node, number: step.number, in: step.parent)
            path.append(convertsNames && name.intValue == nil ? converted(name, under: path) : name)
        }
        return path
    }

    private func key(ofNode node: Int, number: Int, in container: Int) -> JSONKey {
        let key = rawKey(ofNode: node, number: number, in: container)
        return convertsNames && key.intValue == nil ? JSONKey(convertedName(key.stringValue, in: container)) : key
    }

    private func rawKey(ofNode node: Int, number: Int, in container: Int) -> JSONKey {
        guard word(container).kind == .array else { return JSONKey(string(word(node - 1))) }
        return JSONKey(index: number + (container == 0 ? storage.pointee.firstIndex : 0))
    }

    private func converted(_ key: JSONKey, under path: [any CodingKey]) -> JSONKey {
        if case .custom(let convert) = reader.keyDecodingStrategy { return JSONKey(convert(path + [key]).stringValue) }
        return JSONKey(convertedName(key.stringValue, in: 0))
    }
}
