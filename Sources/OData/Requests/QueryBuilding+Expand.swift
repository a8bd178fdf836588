/// `$expand`.
extension QueryBuilding {
    /// With the related entities of a collection.
    public func expand<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
    ) -> Self {
        expanding(relation, nested)
    }

    /// With the related entities of a collection that may be missing.
    public func expand<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]?>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
    ) -> Self {
        expanding(relation, nested)
    }

    /// With the related entity, if there is one.
    ///
    /// Disfavoured, as an optional collection would fit here as well, and the nested closure hides from the compiler which one is meant.
    @_disfavoredOverload
    public func expand<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, Target?>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
    ) -> Self {
        expanding(relation, nested)
    }

    /// With the related entity, which is always there. (Optionals and arrays are no ``EntityType``, which tells the overloads apart; for
    /// other types there is ``expand(_:_:)`` by name.)
    public func expand<Target: EntityType>(
        _ relation: KeyPath<Entity, Target>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
    ) -> Self {
        expanding(relation, nested)
    }

    /// With the related entities of a collection that knows whether it was loaded, and how it goes on.
    public func expand<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, ToMany<Target>>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
    ) -> Self {
        expanding(relation, nested)
    }

    /// With the related entity of a relation that knows whether it was loaded.
    public func expand<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, ToOne<Target>>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target> = { $0 }
    ) -> Self {
        expanding(relation, nested)
    }

    /// With what a navigation property by its wire name leads to.
    public func expand(_ name: String, _ nested: (NestedQuery<DynamicEntity>) -> NestedQuery<DynamicEntity> = { $0 }) -> Self {
        expanding(QueryPath(name), nested)
    }

    private func expanding<Target>(_ relation: AnyKeyPath, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>) -> Self {
        expanding(QueryPath(segments: PropertyCatalog.segments(of: relation, in: Entity.self)), nested)
    }

    private func expanding<Target>(_ path: QueryPath, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>) -> Self {
        var options = nested(NestedQuery()).options
        // References and counts have no properties.
        if [.ref, .count].contains(path.segments.last), options.selection == .decoded { options.selection = .all }
        return changed { $0.expansions.append(Expansion(path: path, options: options)) }
    }

    // MARK: References, counts and stars

    /// With references to the related entities in place of them: `Trips/$ref`.
    @_disfavoredOverload
    public func expandReferences(
        _ relation: PartialKeyPath<Entity>, _ nested: (NestedQuery<DynamicEntity>) -> NestedQuery<DynamicEntity> = { $0 }
    ) -> Self {
        expanding(relation, .ref, nested)
    }

    /// With references to those of the related entities that the nested query leaves.
    public func expandReferences<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .ref, nested)
    }

    /// The same of a collection that may be missing.
    public func expandReferences<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]?>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .ref, nested)
    }

    /// The same of a collection that knows whether it was loaded.
    public func expandReferences<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, ToMany<Target>>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .ref, nested)
    }

    /// The same of a relation to at most one entity that knows whether it was loaded.
    public func expandReferences<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, ToOne<Target>>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .ref, nested)
    }

    /// With the number of related entities: `Trips/$count`, of those only that a nested filter or search leaves.
    @_disfavoredOverload
    public func expandCount(
        _ relation: PartialKeyPath<Entity>, _ nested: (NestedQuery<DynamicEntity>) -> NestedQuery<DynamicEntity> = { $0 }
    ) -> Self {
        expanding(relation, .count, nested)
    }

    /// With the number of those of the related entities that the nested filter or search leaves: `Trips/$count($filter=…)`.
    public func expandCount<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .count, nested)
    }

    /// The same of a collection that may be missing.
    public func expandCount<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, [Target]?>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .count, nested)
    }

    /// The same of a collection that knows whether it was loaded.
    public func expandCount<Target: Decodable & Sendable>(
        _ relation: KeyPath<Entity, ToMany<Target>>, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(relation, .count, nested)
    }

    private func expanding<Target>(
        _ relation: PartialKeyPath<Entity>, _ end: QueryPath.Segment, _ nested: (NestedQuery<Target>) -> NestedQuery<Target>
    ) -> Self {
        expanding(QueryPath(segments: PropertyCatalog.segments(of: relation, in: Entity.self) + [end]), nested)
    }

    /// With references to what a navigation property by its wire name leads to.
    public func expandReferences(
        _ name: String, _ nested: (NestedQuery<DynamicEntity>) -> NestedQuery<DynamicEntity> = { $0 }
    ) -> Self {
        expanding(QueryPath(name + "/$ref"), nested)
    }

    /// With the number of what a navigation property by its wire name leads to.
    public func expandCount(
        _ name: String, _ nested: (NestedQuery<DynamicEntity>) -> NestedQuery<DynamicEntity> = { $0 }
    ) -> Self {
        expanding(QueryPath(name + "/$count"), nested)
    }

    /// With everything that is related, so many levels deep. Not in version 2.
    public func expandAll(levels: ExpansionLevels? = nil) -> Self {
        expanding(QueryPath(segments: [.all])) { (query: NestedQuery<DynamicEntity>) in levels.map { query.levels($0) } ?? query }
    }

    /// With an expansion of your own making.
    public func expand(_ expansion: Expansion) -> Self {
        changed { $0.expansions.append(expansion) }
    }
}
